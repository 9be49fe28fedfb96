//! IQ3_XXS: 256 values in 8 groups of 32: eight codewords of four levels, their signs, and a four-bit scale.
//!
//! Bytes: f16 `d`; 64 of numbers of codewords; 4 a group: seven signs of each eight values (the eighth makes the number of
//! negative levels even), and the scale on top. `x = d · (2 sc + 1) / 4 · ±T`

use super::codewords::{IQ3_XXS_BOOK, OddScales, even_signs, iq3_xxs, magnitudes, with_sign};
use super::groups::{self, Group};
use super::{BlockType, codebooks, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ3_XXS,
    decode: |bytes, values| groups::decode::<98, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<98, 256>(values, bytes, block),
};

fn group(block: &[u8; 98], index: usize) -> Group {
    let rest = u32::from_le_bytes(block[66..].as_chunks().0[index / 2]);
    let step = halves::read([block[0], block[1]]) * (2 * (rest >> 28) + 1) as f32 / 4.0;
    let level = |i: usize| {
        let number = block[2 + 4 * index + i / 4];
        let level = iq3_xxs(codebooks::IQ3_XXS[usize::from(number)], i % 4);
        with_sign(level, even_signs(rest >> (7 * (index % 2 * 2 + i / 8))), i % 8)
    };
    Group::signed(step, std::array::from_fn(level))
}

fn block(values: &[f32; 256]) -> [u8; 98] {
    let parts: Vec<_> = values.as_chunks::<8>().0.iter().map(|eight| magnitudes(eight, true)).collect();
    let sizes: Vec<_> = parts.iter().map(|(sizes, _)| *sizes).collect();
    let groups = sizes.as_flattened().as_chunks::<4>().0.as_chunks::<8>().0;
    let scales = OddScales::<8>::new(&std::array::from_fn(|g| IQ3_XXS_BOOK.step(&groups[g]).0), 15, 4.0);
    let mut out = [0; 98];
    out[..2].copy_from_slice(&scales.bytes);
    for (g, values) in groups.iter().enumerate() {
        for (k, number) in IQ3_XXS_BOOK.numbers(values, scales.steps[g]).into_iter().enumerate() {
            out[2 + 8 * g + k] = number as u8;
        }
        let scale = u32::from(scales.scales[g]) << 28;
        let rest = (0..4).fold(scale, |rest, k| rest | u32::from(parts[4 * g + k].1 & 127) << (7 * k));
        out[66 + 4 * g..][..4].copy_from_slice(&rest.to_le_bytes());
    }
    out
}
