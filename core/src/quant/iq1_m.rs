//! IQ1_M: 256 values in 16 groups of 16 with a three-bit scale: two codewords of eight levels, each with its own shift.
//!
//! Bytes: 32 of lower bits of the numbers of codewords; 16 of nibbles, one a codeword: three upper bits and the sign of the
//! shift; four u16: scales of four groups each, three bits each, and on top four bits of f16 `d`, the lowest first.
//! `x = d · (2 sc + 1) · (T ± 1/8)`

use super::codewords::{IQ1_BOOKS, OddScales, iq1};
use super::groups::{self, Group};
use super::{BlockType, codebooks, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::IQ1_M,
    decode: |bytes, values| groups::decode::<56, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<56, 256>(values, bytes, block),
};

fn group(block: &[u8; 56], index: usize) -> Group {
    let fours: [u16; 4] = std::array::from_fn(|i| u16::from_le_bytes([block[48 + 2 * i], block[49 + 2 * i]]));
    let d = (0..4).fold(0, |d, i| d | fours[i] >> 12 << (4 * i));
    let scale = fours[index / 4] >> (index % 4 * 3) & 7;
    let step = halves::read(d.to_le_bytes()) * f32::from(2 * scale + 1) / 8.0;
    let level = |i: usize| {
        let k = 2 * index + i / 8;
        let nibble = block[32 + k / 2] >> (k % 2 * 4);
        let number = usize::from(block[k]) | usize::from(nibble & 7) << 8;
        iq1(codebooks::IQ1[number], i % 8) + if nibble & 8 == 0 { 1 } else { -1 }
    };
    Group::signed(step, std::array::from_fn(level))
}

/// How far eight values are from a codeword of a book at a step, beside what all choices share.
fn off(values: &[f32; 8], shift: usize, step: f32) -> (u16, f32) {
    let inverse = halves::inverse(step);
    IQ1_BOOKS[shift].closest(&values.map(|x| x * inverse))
}

fn block(values: &[f32; 256]) -> [u8; 56] {
    let groups = values.as_chunks::<8>().0.as_chunks::<2>().0;
    // A step is that of the shift which suits both codewords better; then each takes its own.
    let wanted: [f32; 16] = std::array::from_fn(|g| {
        let [up, down] = IQ1_BOOKS.each_ref().map(|book| book.step(&groups[g]));
        if down.1 > up.1 { down.0 } else { up.0 }
    });
    let scales = OddScales::<16>::new(&wanted, 7, 8.0);
    let mut out = [0; 56];
    let d = u16::from_le_bytes(scales.bytes);
    let mut fours: [u16; 4] = std::array::from_fn(|i| (d >> (4 * i)) << 12);
    for (g, values) in groups.iter().enumerate() {
        fours[g / 4] |= u16::from(scales.scales[g]) << (g % 4 * 3);
        for (at, values) in values.iter().enumerate() {
            let k = 2 * g + at;
            let [up, down] = [0, 1].map(|shift| off(values, shift, scales.steps[g]));
            let (number, shift) = if down.1 < up.1 { (down.0, 8) } else { (up.0, 0) };
            out[k] = (number & 255) as u8;
            out[32 + k / 2] |= ((number >> 8) as u8 | shift) << (k % 2 * 4);
        }
    }
    for (i, four) in fours.iter().enumerate() {
        out[48 + 2 * i..][..2].copy_from_slice(&four.to_le_bytes());
    }
    out
}
