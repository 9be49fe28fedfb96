//! Q4_0: 32 values of four bits around zero, one scale.
//!
//! Bytes: f16 `d`; 16 bytes, whose low nibble holds value `j` and whose high nibble holds value `j + 16`.
//! `x = d · (q − 8)`

use super::{BlockType, halves, search, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType { dtype: DType::Q4_0, decode, encode };

fn decode(bytes: &[u8], values: &mut [f32]) {
    for (block, out) in bytes.as_chunks::<18>().0.iter().zip(values.as_chunks_mut::<32>().0) {
        let [d0, d1, nibbles @ ..] = block;
        let d = halves::read([*d0, *d1]);
        for (value, level) in out.iter_mut().zip(halves::unpack_nibbles(nibbles)) {
            *value = (f32::from(level) - 8.0) * d;
        }
    }
}

fn encode(values: &[f32], bytes: &mut [u8]) {
    for (source, block) in values.as_chunks::<32>().0.iter().zip(bytes.as_chunks_mut::<18>().0) {
        // The value of largest magnitude falls on level 0, the only one that reaches 8 steps.
        put(source, halves::peak(source) / -8.0, block);
    }
}

/// As `encode`, with the scale whose errors, weighted by the importance of each value, are least.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    weighted::each_block(values, importance, bytes, |source, weights, block| {
        put(source, search::weighted_signed_scale(source, weights, 8.0), block);
    });
}

fn put(source: &[f32; 32], scale: f32, block: &mut [u8; 18]) {
    let [d0, d1, nibbles @ ..] = block;
    let (d_bytes, d) = halves::round(scale);
    [*d0, *d1] = d_bytes;
    let inverse = halves::inverse(d);
    halves::pack_nibbles(&source.map(|x| halves::level(x * inverse + 8.0, 15)), nibbles);
}
