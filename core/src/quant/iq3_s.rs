//! IQ3_S: 256 values in 8 groups of 32: eight codewords of four levels, their signs, and a four-bit scale.
//!
//! Bytes: f16 `d`; 64 of lower bits of the numbers of codewords; 8 of their upper bits; 32 of signs; 4 of scales, low nibble
//! first. `x = d · (2 sc + 1) · ±T`

use super::codewords::{IQ3_S_BOOK, OddScales, iq3_s, magnitudes, with_sign};
use super::groups::{self, Group};
use super::{BlockType, codebooks, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ3_S,
    decode: |bytes, values| groups::decode::<110, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<110, 256>(values, bytes, block),
};

fn group(block: &[u8; 110], index: usize) -> Group {
    let scale = block[106 + index / 4] >> (index / 2 % 2 * 4) & 15;
    let step = halves::read([block[0], block[1]]) * f32::from(2 * scale + 1);
    let level = |i: usize| {
        let k = 4 * index + i / 4;
        let high = usize::from(block[66 + k / 8] >> (k % 8) & 1) << 8;
        let level = iq3_s(codebooks::IQ3_S[usize::from(block[2 + k]) | high], i % 4);
        with_sign(level, u32::from(block[74 + 2 * index + i / 8]), i % 8)
    };
    Group::signed(step, std::array::from_fn(level))
}

fn block(values: &[f32; 256]) -> [u8; 110] {
    let parts: Vec<_> = values.as_chunks::<8>().0.iter().map(|eight| magnitudes(eight, false)).collect();
    let sizes: Vec<_> = parts.iter().map(|(sizes, _)| *sizes).collect();
    let groups = sizes.as_flattened().as_chunks::<4>().0.as_chunks::<8>().0;
    let scales = OddScales::<8>::new(&std::array::from_fn(|g| IQ3_S_BOOK.step(&groups[g]).0), 15, 1.0);
    let mut out = [0; 110];
    out[..2].copy_from_slice(&scales.bytes);
    for (k, (_, signs)) in parts.iter().enumerate() {
        out[74 + k] = *signs;
    }
    for (g, values) in groups.iter().enumerate() {
        out[106 + g / 2] |= scales.scales[g] << (g % 2 * 4);
        for (k, number) in IQ3_S_BOOK.numbers(values, scales.steps[g]).into_iter().enumerate() {
            out[2 + 8 * g + k] = (number & 255) as u8;
            out[66 + g] |= ((number >> 8) as u8) << k;
        }
    }
    out
}
