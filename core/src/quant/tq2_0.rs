//! TQ2_0: 256 values of −1, 0 and 1, two bits each, one scale.
//!
//! Bytes: 64 of pairs of bits as in Q2_K, f16 `d`. `x = d · (q − 1)`

use super::groups::{self, Group, pack_pairs, pair_of_bits, sixteen};
use super::{BlockType, halves};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::TQ2_0,
    decode: |bytes, values| groups::decode::<66, 256>(bytes, values, group),
    encode: |values, bytes| groups::encode::<66, 256>(values, bytes, block),
};

fn group(block: &[u8; 66], index: usize) -> Group {
    let level = |j: usize| pair_of_bits(&block[..64], j).cast_signed() - 1;
    Group::signed(halves::read([block[64], block[65]]), sixteen(index, level))
}

fn block(values: &[f32; 256]) -> [u8; 66] {
    let (d_bytes, d) = halves::round(halves::peak(values).abs());
    let inverse = halves::inverse(d);
    let mut out = [0; 66];
    out[..64].copy_from_slice(&pack_pairs(&values.map(|x| halves::level(x * inverse + 1.0, 2))));
    out[64..].copy_from_slice(&d_bytes);
    out
}
