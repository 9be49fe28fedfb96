//! Which vector instructions are used, decided once at run time.

use super::lanes::Lanes;
use super::lanes_portable::Portable;

/// A set of vector instructions, from the plainest to the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Plain Rust; runs anywhere.
    Portable,
    /// AVX2, FMA and F16C.
    Avx2,
    /// AVX-512 F, BW, DQ, VL and VNNI, besides all of [`Level::Avx2`].
    Avx512Vnni,
}

impl Level {
    /// Every level, plainest first.
    pub const ALL: [Level; 3] = [Level::Portable, Level::Avx2, Level::Avx512Vnni];
}

/// A level that this processor has. It is cheap to copy and is passed to each kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd {
    level: Level,
}

impl Simd {
    /// The widest level of this processor.
    pub fn detect() -> Self {
        Self::at_most(Level::Avx512Vnni)
    }

    /// The widest level of this processor that is not above `limit`.
    pub fn at_most(limit: Level) -> Self {
        Simd { level: limit.min(widest()) }
    }

    /// The level in use.
    pub fn level(self) -> Level {
        self.level
    }

    /// Runs a task with the registers of this level.
    pub(crate) fn run<T: Task>(self, task: T) -> T::Output {
        #[cfg(target_arch = "x86_64")]
        match self.level {
            Level::Portable => Portable::enter(task),
            Level::Avx2 => super::lanes_avx2::Avx2::enter(task),
            Level::Avx512Vnni => super::lanes_avx512::Avx512::enter(task),
        }
        #[cfg(not(target_arch = "x86_64"))]
        Portable::enter(task)
    }
}

#[cfg(target_arch = "x86_64")]
fn widest() -> Level {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni");
    match (avx2, avx512) {
        (_, true) => Level::Avx512Vnni,
        (true, false) => Level::Avx2,
        (false, false) => Level::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn widest() -> Level {
    Level::Portable
}

/// Work written once for registers of any width.
pub(crate) trait Task {
    type Output;

    /// Does the work. Must be `#[inline(always)]`: only then does it take on the instructions of the caller.
    fn run<L: Lanes>(self) -> Self::Output;
}
