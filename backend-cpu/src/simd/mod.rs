//! Vector kernels of the CPU backend: products with weights of every type that the models use, and helpers over slices.
//!
//! * [`Simd::detect`] finds the widest instructions once; every function takes the result, and [`Simd::at_most`] forces
//!   a lower [`Level`].
//! * Fast mode: [`quantise`] rounds activations to 8 bits, [`matmul_fast`] multiplies. Exact mode: [`matmul_exact`] takes
//!   f32 activations. [`has_fast`] and [`has_exact`] name the types.
//! * Both serve any number of columns, and a column's result does not depend on its neighbours or on how rows are shared
//!   among threads. A thread passes its own part of an [`Output`].
//!
//! Every kernel is written once over the registers of `lanes::Lanes` and compiled for each level.

#![expect(
    clippy::needless_range_loop,
    reason = "loops over arrays of registers are plain so that they unroll; closures of iterators are not always inlined"
)]

mod activations;
mod attention;
pub mod cached;
mod codewords;
mod formats_256;
mod formats_32;
mod formats_codewords;
mod formats_few_bits;
mod formats_few_k;
mod formats_iq1;
mod formats_levels;
mod formats_plain;
pub mod functions;
mod job;
mod lanes;
#[cfg(target_arch = "x86_64")]
mod lanes_avx2;
#[cfg(target_arch = "x86_64")]
mod lanes_avx512;
mod lanes_portable;
mod level;
mod matmul;
mod operands;
mod panel;
pub mod product;
pub mod recurrent;
mod rows;
mod run_exact;
mod run_fast;
#[cfg(test)]
mod tests;
mod tile_exact;
mod tile_fast;
pub mod vector;

pub use activations::{ACTIVATION_VALUES, ActivationBlock, quantise};
pub use level::{Level, Simd};
pub use matmul::{ROW_TILE, has_exact, has_fast, matmul_exact, matmul_fast};
pub use operands::{Columns, MatmulError, Output, Weights};
