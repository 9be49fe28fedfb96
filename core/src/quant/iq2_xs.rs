//! IQ2_XS: 256 values in 16 groups of 16: two codewords of eight levels, their signs, and a four-bit scale.
//!
//! Bytes: f16 `d`; 32 u16, each the number of a codeword in nine bits and seven signs above (the eighth makes the number of
//! negative levels even); 8 of scales, low nibble first. `x = d · (2 sc + 1) / 8 · ±T`

use super::codewords::{IQ2_XS_BOOK, OddScales, even_signs, iq2, magnitudes, with_sign};
use super::groups::{self, Group};
use super::{BlockType, codebooks, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ2_XS,
    decode: |bytes, values| groups::decode::<74, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<74, 256>(values, bytes, block),
};

fn group(block: &[u8; 74], index: usize) -> Group {
    let scale = block[66 + index / 2] >> (index % 2 * 4) & 15;
    let step = halves::read([block[0], block[1]]) * f32::from(2 * scale + 1) / 8.0;
    let level = |i: usize| {
        let at = 2 + 2 * (2 * index + i / 8);
        let word = u16::from_le_bytes([block[at], block[at + 1]]);
        let level = iq2(codebooks::IQ2_XS[usize::from(word & 511)], i % 8);
        with_sign(level, even_signs(u32::from(word >> 9)), i % 8)
    };
    Group::signed(step, std::array::from_fn(level))
}

fn block(values: &[f32; 256]) -> [u8; 74] {
    let parts: Vec<_> = values.as_chunks::<8>().0.iter().map(|eight| magnitudes(eight, true)).collect();
    let sizes: Vec<_> = parts.iter().map(|(sizes, _)| *sizes).collect();
    let groups = sizes.as_chunks::<2>().0;
    let scales = OddScales::<16>::new(&std::array::from_fn(|g| IQ2_XS_BOOK.step(&groups[g]).0), 15, 8.0);
    let mut out = [0; 74];
    out[..2].copy_from_slice(&scales.bytes);
    for (g, values) in groups.iter().enumerate() {
        out[66 + g / 2] |= scales.scales[g] << (g % 2 * 4);
        for (k, number) in IQ2_XS_BOOK.numbers(values, scales.steps[g]).into_iter().enumerate() {
            let word = number | u16::from(parts[2 * g + k].1 & 127) << 9;
            out[2 + 2 * (2 * g + k)..][..2].copy_from_slice(&word.to_le_bytes());
        }
    }
    out
}
