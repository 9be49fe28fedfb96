//! Quantised block types: one file each, all reached through [`block_type`].

use crate::graph::DType;

mod halves;
mod plain;
pub mod planes;
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
pub static BLOCK_TYPES: [&BlockType; 11] = [
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
];

/// The codec of a type, or `None` where weft cannot read it.
pub fn block_type(dtype: DType) -> Option<&'static BlockType> {
    BLOCK_TYPES.iter().find(|t| t.dtype == dtype).copied()
}
