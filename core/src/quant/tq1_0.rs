//! TQ1_0: 256 values of −1, 0 and 1, five in a byte, one scale.
//!
//! Bytes: 48 of five values each, 4 of four values each, f16 `d`. A byte is `256 / 243` of a number of five digits to the
//! base 3, rounded up: times `3^p`, modulo 256, times 3, its digit `p` is what stands above the low eight bits. Byte
//! `l < 32` holds values `l + 32p`, byte `32 + l` values `160 + l + 16p`, byte `48 + l` values `240 + l + 4p`.
//! `x = d · (q − 1)`

use super::groups::{self, Group, sixteen};
use super::{BlockType, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::TQ1_0,
    decode: |bytes, values| groups::decode::<54, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<54, 256>(values, bytes, block),
};

/// Powers of three.
const POWERS: [u8; 5] = [1, 3, 9, 27, 81];

/// The byte of value `j`, and which digit of it.
fn place(j: usize) -> (usize, usize) {
    match j {
        0..160 => (j % 32, j / 32),
        160..240 => (32 + j % 16, (j - 160) / 16),
        _ => (48 + j % 4, (j - 240) / 4),
    }
}

fn group(block: &[u8; 54], index: usize) -> Group {
    let digit = |j: usize| {
        let (byte, p) = place(j);
        let rest = block[byte].wrapping_mul(POWERS[p]);
        ((u16::from(rest) * 3) >> 8) as i8
    };
    Group::signed(halves::read([block[52], block[53]]), sixteen(index, |j| digit(j) - 1))
}

fn block(values: &[f32; 256]) -> [u8; 54] {
    let (d_bytes, d) = halves::round(halves::peak(values).abs());
    let inverse = halves::inverse(d);
    let mut digits = [0u16; 52];
    for (j, x) in values.iter().enumerate() {
        let (byte, p) = place(j);
        digits[byte] += u16::from(halves::level(x * inverse + 1.0, 2)) * u16::from(POWERS[4 - p]);
    }
    let mut out = [0; 54];
    for (byte, digits) in out.iter_mut().zip(digits) {
        *byte = (digits * 256).div_ceil(243) as u8;
    }
    out[52..].copy_from_slice(&d_bytes);
    out
}
