//! IQ4_NL: 32 values with uneven levels of four bits, one scale.
//!
//! Bytes: f16 `d`; 16 of nibbles, value `j` low, value `j + 16` high. `x = d · T[q]`, `T` in `levels.rs`

use super::groups::{self, Group};
use super::{BlockType, halves, levels};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ4_NL,
    decode: |bytes, values| groups::decode::<18, 32>(bytes, values, group),
    encode: |values, bytes| groups::encode::<18, 32>(values, bytes, block),
};

fn group(block: &[u8; 18], index: usize) -> Group {
    let level = |i: usize| levels::IQ4[usize::from(block[2 + i] >> (4 * index) & 15)];
    Group::signed(halves::read([block[0], block[1]]), std::array::from_fn(level))
}

fn block(values: &[f32; 32]) -> [u8; 18] {
    let (d_bytes, d) = halves::round(levels::iq4_step(values));
    let inverse = halves::inverse(d);
    let number = |x: f32| levels::nearest(&levels::IQ4, x * inverse);
    let mut out = [0; 18];
    out[..2].copy_from_slice(&d_bytes);
    for (i, byte) in out[2..].iter_mut().enumerate() {
        *byte = number(values[i]) | number(values[i + 16]) << 4;
    }
    out
}
