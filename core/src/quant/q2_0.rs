//! Q2_0: 64 values of two bits, one scale.
//!
//! Bytes: f16 `d`; 16 of pairs of bits, value `j` at bit `2 · (j % 4)` of byte `j / 4`. `x = d · (q − 1)`

use super::groups::{self, Group, sixteen};
use super::{BlockType, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::Q2_0,
    decode: |bytes, values| groups::decode::<18, 64>(bytes, values, group),
    encode: |values, bytes| groups::encode::<18, 64>(values, bytes, block),
};

fn group(block: &[u8; 18], index: usize) -> Group {
    let level = |j: usize| block[2 + j / 4] >> (2 * (j % 4)) & 3;
    Group::signed(halves::read([block[0], block[1]]), sixteen(index, |j| level(j).cast_signed() - 1))
}

fn block(values: &[f32; 64]) -> [u8; 18] {
    let (d_bytes, d) = halves::round(halves::peak(values).abs());
    let inverse = halves::inverse(d);
    let mut out = [0; 18];
    out[..2].copy_from_slice(&d_bytes);
    for (j, x) in values.iter().enumerate() {
        out[2 + j / 4] |= halves::level(x * inverse + 1.0, 3) << (2 * (j % 4));
    }
    out
}
