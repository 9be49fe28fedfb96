//! Q1_0: 128 signs, one scale.
//!
//! Bytes: f16 `d`; 16 of bits, value `j` in bit `j % 8` of byte `j / 8`. `x = d` where its bit is set, else `−d`

use super::groups::{self, Group, sixteen};
use super::{BlockType, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::Q1_0,
    decode: |bytes, values| groups::decode::<18, 128>(bytes, values, group),
    encode: |values, bytes| groups::encode::<18, 128>(values, bytes, block),
};

fn group(block: &[u8; 18], index: usize) -> Group {
    let bit = |j: usize| block[2 + j / 8] >> (j % 8) & 1;
    Group::signed(halves::read([block[0], block[1]]), sixteen(index, |j| 2 * bit(j).cast_signed() - 1))
}

fn block(values: &[f32; 128]) -> [u8; 18] {
    // The mean magnitude is the scale with the least squares.
    let (d, _) = halves::round(values.iter().map(|x| x.abs()).sum::<f32>() / 128.0);
    let mut out = [0; 18];
    out[..2].copy_from_slice(&d);
    for (j, x) in values.iter().enumerate() {
        out[2 + j / 8] |= u8::from(*x >= 0.0) << (j % 8);
    }
    out
}
