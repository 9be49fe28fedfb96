//! Q4_0: 32 values of four bits around zero, one scale.
//!
//! Bytes: f16 `d`; 16 bytes, whose low nibble holds value `j` and whose high nibble holds value `j + 16`.
//! `x = d · (q − 8)`

use super::{BlockType, halves};
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
        let [d0, d1, nibbles @ ..] = block;
        // The value of largest magnitude falls on level 0, the only one that reaches 8 steps.
        let (d_bytes, d) = halves::round(halves::peak(source) / -8.0);
        [*d0, *d1] = d_bytes;
        let inverse = halves::inverse(d);
        halves::pack_nibbles(&source.map(|x| halves::level(x * inverse + 8.0, 15)), nibbles);
    }
}
