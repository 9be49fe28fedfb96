//! IQ4_NL: 32 values with uneven levels of four bits, one scale.
//!
//! Bytes: f16 `d`; 16 of nibbles, value `j` low, value `j + 16` high. `x = d · T[q]`, `T` in `levels.rs`

use super::groups::{self, Group};
use super::{BlockType, halves, levels, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ4_NL,
    decode: |bytes, values| groups::decode::<18, 32>(bytes, values, group),
    encode: |values, bytes| {
        groups::encode::<18, 32>(values, bytes, |values| block(values, levels::iq4_step(values, &[1.0; 32])));
    },
};

/// As `encode`, errors weighted by the importance of each value.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    weighted::each_block(values, importance, bytes, |values, weights, out| {
        *out = block(values, levels::iq4_step(values, weights));
    });
}

fn group(block: &[u8; 18], index: usize) -> Group {
    let level = |i: usize| levels::IQ4[usize::from(block[2 + i] >> (4 * index) & 15)];
    Group::signed(halves::read([block[0], block[1]]), std::array::from_fn(level))
}

/// The block of values that should have this step.
fn block(values: &[f32; 32], step: f32) -> [u8; 18] {
    let (d_bytes, d) = halves::round(step);
    let inverse = halves::inverse(d);
    let number = |x: f32| levels::nearest(&levels::IQ4, x * inverse);
    let mut out = [0; 18];
    out[..2].copy_from_slice(&d_bytes);
    for (i, byte) in out[2..].iter_mut().enumerate() {
        *byte = number(values[i]) | number(values[i + 16]) << 4;
    }
    out
}
