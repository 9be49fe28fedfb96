//! Seeded numbers: equal on every machine.

/// A small, seeded stream of numbers: cases print their seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A stream that a text names.
    pub fn named(name: &str, seed: u64) -> Self {
        let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
        name.bytes()
            .for_each(|b| state = (state ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17));
        Random(state)
    }

    /// The next number.
    #[expect(
        clippy::should_implement_trait,
        reason = "the stream has no end, so an Option would be in the way"
    )]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// A number from −1 to 1.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }
}
