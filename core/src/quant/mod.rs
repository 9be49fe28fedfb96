//! Quantised block types: one file each, all reached through [`block_type`].

use crate::graph::DType;

pub mod codebooks;
mod codewords;
mod groups;
mod halves;
mod iq1_m;
mod iq1_s;
mod iq2_s;
mod iq2_xs;
mod iq2_xxs;
mod iq3_s;
mod iq3_xxs;
mod iq4_nl;
mod iq4_xs;
pub mod levels;
mod mxfp4;
mod nvfp4;
mod plain;
pub mod planes;
mod q1_0;
mod q2_0;
mod q2_k;
mod q3_k;
mod q4_0;
mod q4_1;
mod q4_k;
mod q5_0;
mod q5_1;
mod q5_k;
mod q6_k;
mod q8_0;
mod rows;
mod scales;
mod search;
mod tq1_0;
mod tq2_0;
mod weighted;

pub use rows::{QuantError, decode_row, encode_row, encode_row_weighted};

/// How to read, and for tests and synthetic files to write, blocks of one type.
#[derive(Clone, Copy)]
pub struct BlockType {
    /// The element type.
    pub dtype: DType,
    /// Decodes whole blocks: `bytes.len() / block_bytes` blocks into as many times `block_values` values.
    pub decode: fn(bytes: &[u8], values: &mut [f32]),
    /// Encodes whole blocks by rounding to nearest. Slices as in `decode`.
    pub encode: fn(values: &[f32], bytes: &mut [u8]),
}

/// Every type that weft can read.
pub static BLOCK_TYPES: [&BlockType; 28] = [
    &plain::F32,
    &plain::F16,
    &plain::BF16,
    &q4_0::TYPE,
    &q4_1::TYPE,
    &q5_0::TYPE,
    &q5_1::TYPE,
    &q8_0::TYPE,
    &q4_k::TYPE,
    &q5_k::TYPE,
    &q6_k::TYPE,
    &q2_k::TYPE,
    &q3_k::TYPE,
    &iq1_s::TYPE,
    &iq1_m::TYPE,
    &iq2_xxs::TYPE,
    &iq2_xs::TYPE,
    &iq2_s::TYPE,
    &iq3_xxs::TYPE,
    &iq3_s::TYPE,
    &iq4_nl::TYPE,
    &iq4_xs::TYPE,
    &tq1_0::TYPE,
    &tq2_0::TYPE,
    &mxfp4::TYPE,
    &nvfp4::TYPE,
    &q1_0::TYPE,
    &q2_0::TYPE,
];

/// The codec of a type, or `None` where weft cannot read it.
pub fn block_type(dtype: DType) -> Option<&'static BlockType> {
    BLOCK_TYPES.iter().find(|t| t.dtype == dtype).copied()
}
