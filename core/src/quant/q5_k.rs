//! Q5_K: 256 values of five bits in 8 groups of 32, each with a six-bit scale and minimum.
//!
//! Bytes: header and nibbles as in Q4_K, with 32 bytes of fifth bits between them: bits `2i` and `2i + 1` of byte `l`
//! belong to values `l` and `l + 32` of the `i`-th 64. `x = d · sc · q − dmin · mn`

use super::{BlockType, q4_k::Header, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType { dtype: DType::Q5_K, decode, encode };

fn decode(bytes: &[u8], values: &mut [f32]) {
    for (block, out) in bytes.as_chunks::<176>().0.iter().zip(values.as_chunks_mut::<256>().0) {
        let (header, rest) = Header::read(block);
        let (high, nibbles) = rest.split_at(32);
        let pairs = out.as_chunks_mut::<64>().0.iter_mut().zip(nibbles.as_chunks::<32>().0);
        for (i, (out, nibbles)) in pairs.enumerate() {
            let (first, second) = (header.line(2 * i), header.line(2 * i + 1));
            for (j, (byte, high)) in nibbles.iter().zip(high).enumerate() {
                let pair = high >> (2 * i);
                out[j] = first.0 * f32::from((byte & 15) | (pair & 1) << 4) - first.1;
                out[j + 32] = second.0 * f32::from((byte >> 4) | (pair >> 1 & 1) << 4) - second.1;
            }
        }
    }
}

fn encode(values: &[f32], bytes: &mut [u8]) {
    for (source, block) in values.as_chunks::<256>().0.iter().zip(bytes.as_chunks_mut::<176>().0) {
        put(source, &Header::choose(source, 31), block);
    }
}

/// As `encode`, errors weighted by the importance of each value.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    for (source, importance, block) in weighted::blocks::<256, 176>(values, importance, bytes) {
        put(source, &Header::choose_weighted(source, importance, 31), block);
    }
}

fn put(source: &[f32; 256], header: &Header, block: &mut [u8]) {
    let levels = header.levels(source, 31);
    let (high, nibbles) = header.write(block).split_at_mut(32);
    high.fill(0);
    let pairs = levels.as_chunks::<64>().0.iter().zip(nibbles.as_chunks_mut::<32>().0);
    for (i, (levels, nibbles)) in pairs.enumerate() {
        for (j, (byte, high)) in nibbles.iter_mut().zip(&mut *high).enumerate() {
            *byte = (levels[j] & 15) | (levels[j + 32] & 15) << 4;
            *high |= ((levels[j] >> 4) | (levels[j + 32] >> 4) << 1) << (2 * i);
        }
    }
}
