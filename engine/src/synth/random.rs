//! Random numbers that are the same on every machine: integer arithmetic only.

/// The splitmix64 generator of Steele, Lea and Flood.
pub(super) struct Random(u64);

impl Random {
    /// A stream of its own for each seed and name.
    pub(super) fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        let mut random = Self(seed ^ hash);
        random.next();
        random
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly in `0..1`.
    pub(super) fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Nearly normal, with mean 0 and deviation 1, within ±3.47: a sum of four even numbers.
    pub(super) fn normal(&mut self) -> f32 {
        let bits = self.next();
        let sum: i32 = (0..4).map(|i| i32::from((bits >> (16 * i)) as u16)).sum();
        // Each has variance 65536² / 12, so the sum has deviation 65536 / √3.
        (sum - 131_070) as f32 * (1.732_050_8 / 65_536.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_their_moments() {
        let mut random = Random::new(1, "test");
        let numbers: Vec<f64> = (0..100_000).map(|_| random.normal().into()).collect();
        let mean = numbers.iter().sum::<f64>() / 1e5;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn streams_are_fixed_and_apart() {
        assert_eq!(Random::new(0, "a").next(), Random::new(0, "a").next());
        assert_ne!(Random::new(0, "a").next(), Random::new(0, "b").next());
        assert_ne!(Random::new(0, "a").next(), Random::new(1, "a").next());
    }
}
