//! Q5_0: 32 values of five bits around zero, one scale.
//!
//! Bytes: f16 `d`; u32, bit `j` of which is the fifth bit of value `j`; 16 bytes of nibbles as in Q4_0.
//! `x = d · (q − 16)`

use super::{BlockType, halves, search, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType { dtype: DType::Q5_0, decode, encode };

fn decode(bytes: &[u8], values: &mut [f32]) {
    for (block, out) in bytes.as_chunks::<22>().0.iter().zip(values.as_chunks_mut::<32>().0) {
        let [d0, d1, h0, h1, h2, h3, nibbles @ ..] = block;
        let d = halves::read([*d0, *d1]);
        let levels = halves::unpack_five_bits([*h0, *h1, *h2, *h3], nibbles);
        for (value, level) in out.iter_mut().zip(levels) {
            *value = (f32::from(level) - 16.0) * d;
        }
    }
}

fn encode(values: &[f32], bytes: &mut [u8]) {
    for (source, block) in values.as_chunks::<32>().0.iter().zip(bytes.as_chunks_mut::<22>().0) {
        // The value of largest magnitude falls on level 0, the only one that reaches 16 steps.
        put(source, halves::peak(source) / -16.0, block);
    }
}

/// As `encode`, with the scale whose errors, weighted by the importance of each value, are least.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    weighted::each_block(values, importance, bytes, |source, weights, block| {
        put(source, search::weighted_signed_scale(source, weights, 16.0), block);
    });
}

fn put(source: &[f32; 32], scale: f32, block: &mut [u8; 22]) {
    let [d0, d1, h0, h1, h2, h3, nibbles @ ..] = block;
    let (d_bytes, d) = halves::round(scale);
    [*d0, *d1] = d_bytes;
    let inverse = halves::inverse(d);
    let levels = source.map(|x| halves::level(x * inverse + 16.0, 31));
    [*h0, *h1, *h2, *h3] = halves::pack_fifth_bits(&levels);
    halves::pack_nibbles(&levels, nibbles);
}
