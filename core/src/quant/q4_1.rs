//! Q4_1: 32 values of four bits, one scale and one minimum.
//!
//! Bytes: f16 `d`, f16 `m`; 16 bytes, whose low nibble holds value `j` and whose high nibble holds value `j + 16`.
//! `x = d · q + m`

use super::{BlockType, halves, search, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType { dtype: DType::Q4_1, decode, encode };

fn decode(bytes: &[u8], values: &mut [f32]) {
    for (block, out) in bytes.as_chunks::<20>().0.iter().zip(values.as_chunks_mut::<32>().0) {
        let [d0, d1, m0, m1, nibbles @ ..] = block;
        let d = halves::read([*d0, *d1]);
        let m = halves::read([*m0, *m1]);
        for (value, level) in out.iter_mut().zip(halves::unpack_nibbles(nibbles)) {
            *value = f32::from(level) * d + m;
        }
    }
}

fn encode(values: &[f32], bytes: &mut [u8]) {
    for (source, block) in values.as_chunks::<32>().0.iter().zip(bytes.as_chunks_mut::<20>().0) {
        let (low, high) = halves::range(source);
        put(source, ((high - low) / 15.0, low), block);
    }
}

/// As `encode`, with the line whose errors, weighted by the importance of each value, are least.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    weighted::each_block(values, importance, bytes, |source, weights, block| {
        let (scale, minimum) = search::weighted_scale_and_minimum(source, weights, 15);
        put(source, (scale, -minimum), block);
    });
}

fn put(source: &[f32; 32], (step, low): (f32, f32), block: &mut [u8; 20]) {
    let [d0, d1, m0, m1, nibbles @ ..] = block;
    let (d_bytes, d) = halves::round(step);
    let (m_bytes, m) = halves::round(low);
    [*d0, *d1] = d_bytes;
    [*m0, *m1] = m_bytes;
    let inverse = halves::inverse(d);
    halves::pack_nibbles(&source.map(|x| halves::level((x - m) * inverse, 15)), nibbles);
}
