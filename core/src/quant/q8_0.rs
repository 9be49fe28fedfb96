//! Q8_0: 32 signed bytes, one scale.
//!
//! Bytes: f16 `d`; 32 i8. `x = d · q`

use super::{BlockType, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType { dtype: DType::Q8_0, decode, encode };

fn decode(bytes: &[u8], values: &mut [f32]) {
    for (block, out) in bytes.as_chunks::<34>().0.iter().zip(values.as_chunks_mut::<32>().0) {
        let [d0, d1, levels @ ..] = block;
        let d = halves::read([*d0, *d1]);
        for (value, level) in out.iter_mut().zip(levels) {
            *value = f32::from(level.cast_signed()) * d;
        }
    }
}

fn encode(values: &[f32], bytes: &mut [u8]) {
    for (source, block) in values.as_chunks::<32>().0.iter().zip(bytes.as_chunks_mut::<34>().0) {
        let [d0, d1, levels @ ..] = block;
        let (d_bytes, d) = halves::round(halves::peak(source).abs() / 127.0);
        [*d0, *d1] = d_bytes;
        let inverse = halves::inverse(d);
        for (level, x) in levels.iter_mut().zip(source) {
            *level = ((x * inverse).round().clamp(-127.0, 127.0) as i8).cast_unsigned();
        }
    }
}
