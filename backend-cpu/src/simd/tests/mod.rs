//! Every type at every level against plain loops in f64.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on should stop")]

mod activations;
mod functions;
mod matmul;
mod operands;
mod reference;
mod vector;

use super::{Level, Simd};

/// The levels that this machine has.
fn levels() -> Vec<Simd> {
    let mut all: Vec<_> = Level::ALL.into_iter().map(Simd::at_most).collect();
    all.dedup();
    all
}

/// Reproducible numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// In -1..1.
    fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }
}
