//! IQ2_S: 256 values in 16 groups of 16: two codewords of eight levels, their signs, and a four-bit scale.
//!
//! Bytes: f16 `d`; 32 of lower bits of the numbers of codewords; 32 of signs; 8 of two upper bits of four numbers each; 8 of
//! scales, low nibble first. `x = d · (2 sc + 1) / 8 · ±T`

use super::codewords::{IQ2_S_BOOK, OddScales, iq2, magnitudes, with_sign};
use super::groups::{self, Group};
use super::{BlockType, codebooks, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ2_S,
    decode: |bytes, values| groups::decode::<82, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<82, 256>(values, bytes, block),
};

fn group(block: &[u8; 82], index: usize) -> Group {
    let scale = block[74 + index / 2] >> (index % 2 * 4) & 15;
    let step = halves::read([block[0], block[1]]) * f32::from(2 * scale + 1) / 8.0;
    let level = |i: usize| {
        let k = 2 * index + i / 8;
        let high = usize::from(block[66 + k / 4] >> (k % 4 * 2) & 3) << 8;
        let level = iq2(codebooks::IQ2_S[usize::from(block[2 + k]) | high], i % 8);
        with_sign(level, u32::from(block[34 + k]), i % 8)
    };
    Group::signed(step, std::array::from_fn(level))
}

fn block(values: &[f32; 256]) -> [u8; 82] {
    let parts: Vec<_> = values.as_chunks::<8>().0.iter().map(|eight| magnitudes(eight, false)).collect();
    let sizes: Vec<_> = parts.iter().map(|(sizes, _)| *sizes).collect();
    let groups = sizes.as_chunks::<2>().0;
    let scales = OddScales::<16>::new(&std::array::from_fn(|g| IQ2_S_BOOK.step(&groups[g]).0), 15, 8.0);
    let mut out = [0; 82];
    out[..2].copy_from_slice(&scales.bytes);
    for (g, values) in groups.iter().enumerate() {
        out[74 + g / 2] |= scales.scales[g] << (g % 2 * 4);
        for (at, number) in IQ2_S_BOOK.numbers(values, scales.steps[g]).into_iter().enumerate() {
            let k = 2 * g + at;
            out[2 + k] = (number & 255) as u8;
            out[34 + k] = parts[k].1;
            out[66 + k / 4] |= ((number >> 8) as u8) << (k % 4 * 2);
        }
    }
    out
}
