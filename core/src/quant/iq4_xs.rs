//! IQ4_XS: 256 values with the levels of IQ4_NL in 8 groups of 32, each with a six-bit scale.
//!
//! Bytes: f16 `d`; u16 of upper bits of scales, two each; 4 of lower nibbles of scales; 128 of nibbles, 16 a group as in
//! IQ4_NL. `x = d · (sc − 32) · T[q]`

use super::groups::{self, Group};
use super::{BlockType, halves, levels, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ4_XS,
    decode: |bytes, values| groups::decode::<136, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<136, 256>(values, bytes, |values| block(values, &[1.0; 256])),
};

/// As `encode`, errors weighted by the importance of each value.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    weighted::each_block(values, importance, bytes, |values, weights, out| *out = block(values, weights));
}

fn group(block: &[u8; 136], index: usize) -> Group {
    let group = index / 2;
    let low = block[4 + group / 2] >> (group % 2 * 4) & 15;
    let high = block[2 + group / 4] >> (group % 4 * 2) & 3;
    let step = halves::read([block[0], block[1]]) * (f32::from(low | high << 4) - 32.0);
    let level = |i: usize| levels::IQ4[usize::from(block[8 + 16 * group + i] >> (index % 2 * 4) & 15)];
    Group::signed(step, std::array::from_fn(level))
}

/// The block of values whose errors have these weights.
fn block(values: &[f32; 256], weights: &[f32; 256]) -> [u8; 136] {
    let (groups, weights) = (values.as_chunks::<32>().0, weights.as_chunks::<32>().0);
    let wanted: [f32; 8] = std::array::from_fn(|g| levels::iq4_step(&groups[g], &weights[g]));
    let (d_bytes, d) = halves::round(halves::peak(&wanted) / -32.0);
    let mut out = [0; 136];
    out[..2].copy_from_slice(&d_bytes);
    for (g, values) in groups.iter().enumerate() {
        let scale = halves::level(wanted[g] * halves::inverse(d) + 32.0, 63);
        out[4 + g / 2] |= (scale & 15) << (g % 2 * 4);
        out[2 + g / 4] |= (scale >> 4) << (g % 4 * 2);
        let inverse = halves::inverse(d * (f32::from(scale) - 32.0));
        let number = |x: f32| levels::nearest(&levels::IQ4, x * inverse);
        for i in 0..16 {
            out[8 + 16 * g + i] = number(values[i]) | number(values[i + 16]) << 4;
        }
    }
    out
}
