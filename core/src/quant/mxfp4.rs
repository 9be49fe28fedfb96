//! MXFP4: 32 floats of four bits, one scale that is a power of two.
//!
//! Bytes: exponent `e`; 16 of nibbles, value `j` low, value `j + 16` high. `x = 2^(e − 128) · T[q]`, `T` in `levels.rs`

use super::groups::{self, Group};
use super::{BlockType, halves, levels};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::MXFP4,
    decode: |bytes, values| groups::decode::<17, 32>(bytes, values, group),
    encode: |values, bytes| groups::encode::<17, 32>(values, bytes, block),
};

/// `2^(exponent − 128)`; the two smallest are subnormal.
fn step(exponent: u8) -> f32 {
    match exponent {
        0 | 1 => f32::from_bits(0x0020_0000 << exponent),
        _ => f32::from_bits((u32::from(exponent) - 1) << 23),
    }
}

fn group(block: &[u8; 17], index: usize) -> Group {
    let level = |i: usize| levels::FP4[usize::from(block[1 + i] >> (4 * index) & 15)];
    Group::signed(step(block[0]), std::array::from_fn(level))
}

fn block(values: &[f32; 32]) -> [u8; 17] {
    let peak = halves::peak(values).abs();
    // The largest level is 6, so that a peak of 4 up to 8 has exponent 127. Infinity takes the largest that stays finite.
    let exponent = if peak > 0.0 { (peak.log2().floor() + 125.0).clamp(0.0, 252.0) as u8 } else { 0 };
    let inverse = halves::inverse(step(exponent));
    let number = |x: f32| levels::nearest(&levels::FP4, x * inverse);
    let mut out = [0; 17];
    out[0] = exponent;
    for (i, byte) in out[1..].iter_mut().enumerate() {
        *byte = number(values[i]) | number(values[i + 16]) << 4;
    }
    out
}
