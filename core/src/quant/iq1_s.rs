//! IQ1_S: 256 values in 8 groups of 32: four codewords of eight levels, a three-bit scale, and a shift of all levels.
//!
//! Bytes: f16 `d`; 32 of lower bits of the numbers of codewords; a u16 a group: four times three upper bits, the scale, and
//! the sign of the shift on top. `x = d · (2 sc + 1) · (T ± 1/8)`

use super::codewords::{IQ1_BOOKS, OddScales, iq1};
use super::groups::{self, Group};
use super::{BlockType, codebooks, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ1_S,
    decode: |bytes, values| groups::decode::<50, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<50, 256>(values, bytes, block),
};

fn group(block: &[u8; 50], index: usize) -> Group {
    let rest = u16::from_le_bytes(block[34..].as_chunks().0[index / 2]);
    let step = halves::read([block[0], block[1]]) * f32::from(2 * (rest >> 12 & 7) + 1) / 8.0;
    let shift = if rest >> 15 == 0 { 1 } else { -1 };
    let level = |i: usize| {
        let k = index % 2 * 2 + i / 8;
        let high = usize::from(rest >> (3 * k) & 7) << 8;
        iq1(codebooks::IQ1[usize::from(block[2 + 4 * (index / 2) + k]) | high], i % 8) + shift
    };
    Group::signed(step, std::array::from_fn(level))
}

fn block(values: &[f32; 256]) -> [u8; 50] {
    let groups = values.as_chunks::<8>().0.as_chunks::<4>().0;
    // The step of each group with the better shift.
    let chosen: [(f32, usize); 8] = std::array::from_fn(|g| {
        let [up, down] = IQ1_BOOKS.each_ref().map(|book| book.step(&groups[g]));
        if down.1 > up.1 { (down.0, 1) } else { (up.0, 0) }
    });
    let scales = OddScales::<8>::new(&chosen.map(|(step, _)| step), 7, 8.0);
    let mut out = [0; 50];
    out[..2].copy_from_slice(&scales.bytes);
    for (g, values) in groups.iter().enumerate() {
        let shift = chosen[g].1;
        let mut rest = u16::from(scales.scales[g]) << 12 | (shift as u16) << 15;
        for (k, number) in IQ1_BOOKS[shift].numbers(values, scales.steps[g]).into_iter().enumerate() {
            out[2 + 4 * g + k] = (number & 255) as u8;
            rest |= (number >> 8) << (3 * k);
        }
        out[34 + 2 * g..][..2].copy_from_slice(&rest.to_le_bytes());
    }
    out
}
