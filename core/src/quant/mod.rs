//! Quantised block types: one file each, all reached through [`block_type`].

use crate::graph::DType;

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

/// The codec of a type, or `None` where weft cannot read it.
pub fn block_type(_dtype: DType) -> Option<&'static BlockType> {
    None
}
