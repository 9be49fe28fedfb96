//! IQ2_XXS: 256 values in 8 groups of 32: four codewords of eight levels, their signs, and a four-bit scale.
//!
//! Bytes: f16 `d`; 8 a group: the numbers of four codewords, then 32 bits: seven signs of each codeword (the eighth makes
//! the number of negative levels even), and the scale on top. `x = d · (2 sc + 1) / 8 · ±T`

use super::codewords::{IQ2_XXS_BOOK, OddScales, even_signs, iq2, magnitudes, with_sign};
use super::groups::{self, Group};
use super::{BlockType, codebooks, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ2_XXS,
    decode: |bytes, values| groups::decode::<66, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<66, 256>(values, bytes, block),
};

fn group(block: &[u8; 66], index: usize) -> Group {
    let [numbers @ .., a, b, c, d] = block[2..].as_chunks::<8>().0[index / 2];
    let rest = u32::from_le_bytes([a, b, c, d]);
    let step = halves::read([block[0], block[1]]) * (2 * (rest >> 28) + 1) as f32 / 8.0;
    let level = |i: usize| {
        let k = index % 2 * 2 + i / 8;
        let level = iq2(codebooks::IQ2_XXS[usize::from(numbers[k])], i % 8);
        with_sign(level, even_signs(rest >> (7 * k)), i % 8)
    };
    Group::signed(step, std::array::from_fn(level))
}

fn block(values: &[f32; 256]) -> [u8; 66] {
    let parts: Vec<_> = values.as_chunks::<8>().0.iter().map(|eight| magnitudes(eight, true)).collect();
    let sizes: Vec<_> = parts.iter().map(|(sizes, _)| *sizes).collect();
    let groups = sizes.as_chunks::<4>().0;
    let scales = OddScales::<8>::new(&std::array::from_fn(|g| IQ2_XXS_BOOK.step(&groups[g]).0), 15, 8.0);
    let mut out = [0; 66];
    let (d, rest) = out.split_at_mut(2);
    d.copy_from_slice(&scales.bytes);
    for (g, out) in rest.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let mut signs = u32::from(scales.scales[g]) << 28;
        for (k, number) in IQ2_XXS_BOOK.numbers(&groups[g], scales.steps[g]).into_iter().enumerate() {
            out[k] = number as u8;
            signs |= u32::from(parts[4 * g + k].1 & 127) << (7 * k);
        }
        out[4..].copy_from_slice(&signs.to_le_bytes());
    }
    out
}
