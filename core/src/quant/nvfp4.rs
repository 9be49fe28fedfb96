//! NVFP4: 64 floats of four bits in 4 groups of 16, each with a scale of eight bits.
//!
//! Bytes: 4 scales without sign, four bits of exponent and three of mantissa; 32 of nibbles, 8 a group, value `j` low,
//! value `j + 8` high. `x = s / 2 · T[q]`, `T` in `levels.rs`

use super::groups::{self, Group};
use super::{BlockType, halves, levels};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::NVFP4,
    decode: |bytes, values| groups::decode::<36, 64>(bytes, values, group),
    encode: |values, bytes| groups::encode::<36, 64>(values, bytes, block),
};

/// Half of a scale. The code of NaN is a zero, and the top bit is not looked at.
fn half_scale(code: u8) -> f32 {
    let (exponent, mantissa) = (code >> 3 & 15, f32::from(code & 7));
    match (code, exponent) {
        (0x7f, _) => 0.0,
        (_, 0) => mantissa / 1024.0,
        _ => (8.0 + mantissa) * f32::from_bits((u32::from(exponent) + 127 - 7 - 4) << 23),
    }
}

/// The code of the scale nearest to twice `half`.
fn code(half: f32) -> u8 {
    let off = |code: u8| (half_scale(code) - half).abs();
    // NaN leaves the first.
    (0..0x7f).fold(0, |best, next| if off(next) < off(best) { next } else { best })
}

fn group(block: &[u8; 36], index: usize) -> Group {
    let level = |i: usize| levels::FP4[usize::from(block[4 + 8 * index + i % 8] >> (i / 8 * 4) & 15)];
    Group::signed(half_scale(block[index]), std::array::from_fn(level))
}

fn block(values: &[f32; 64]) -> [u8; 36] {
    let mut out = [0; 36];
    for (g, values) in values.as_chunks::<16>().0.iter().enumerate() {
        out[g] = code(halves::peak(values).abs() / 12.0);
        let inverse = halves::inverse(half_scale(out[g]));
        let number = |x: f32| levels::nearest(&levels::FP4, x * inverse);
        for i in 0..8 {
            out[4 + 8 * g + i] = number(values[i]) | number(values[i + 8]) << 4;
        }
    }
    out
}
