//! The generator behind the draws.
//!
//! PCG XSL RR 128/64 (O'Neill's `pcg64`), seeded through SplitMix64 so that neighbouring seeds have nothing in common. A
//! uniform number is the top 53 bits of an output. All three are fixed by their publications, so a seed means the same run
//! in every version of weft.

use std::hash::{BuildHasher, RandomState};

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// The stream constant of the published generator.
const STREAM: u128 = 0x0a02_bdbf_7bb3_c0a7_ac28_fa16_a64a_bf96;

/// A seeded stream of uniform numbers.
#[derive(Debug, Clone)]
pub(super) struct Random(Pcg64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let high = split_mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15));
        let low = split_mix(seed.wrapping_add(0x3c6e_f372_fe94_f82a));
        Self(Pcg64::new(u128::from(high) << 64 | u128::from(low), STREAM))
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A seed that nobody chose: the standard library's hash keys come from the system's entropy.
pub(super) fn any_seed() -> u64 {
    RandomState::new().hash_one("weft")
}

fn split_mix(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_repeat_and_neighbours_differ() {
        let take = |seed| {
            let mut random = Random::new(seed);
            [random.uniform(), random.uniform()]
        };
        assert_eq!(take(1), take(1));
        assert!(take(1).iter().zip(take(2)).all(|(one, two)| (one - two).abs() > 1e-9));
        assert_ne!(any_seed(), any_seed());
    }

    #[test]
    fn uniform_numbers_fill_the_unit_interval_evenly() {
        let mut random = Random::new(7);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[(random.uniform() * 10.0) as usize] += 1;
        }
        let chi_square: f64 = counts.iter().map(|count| (f64::from(*count) - 1e4).powi(2) / 1e4).sum();
        // The 99.9 % point for 9 degrees of freedom.
        assert!(chi_square < 27.9, "{chi_square}");
    }
}
