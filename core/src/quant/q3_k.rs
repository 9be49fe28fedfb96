//! Q3_K: 256 values of three bits around zero in 16 groups of 16, each with a six-bit scale.
//!
//! Bytes: 32 of upper bits, 64 of lower pairs of bits (as in Q2_K), 12 of scales, f16 `d`. The upper bit of value
//! `l + 32p` is bit `p` of byte `l`. Scale `j` has its low four bits in byte `j % 8` of the twelve (the low nibble for
//! `j < 8`) and its upper two in byte `8 + j % 4` at `2 · (j / 4)`. `x = d · (sc − 32) · (q − 4)`

use super::groups::{self, Group, pack_pairs, pair_of_bits, sixteen};
use super::{BlockType, halves, search, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::Q3_K,
    decode: |bytes, values| groups::decode::<110, 256>(bytes, values, group),
    encode: |values, bytes| {
        groups::encode::<110, 256>(values, bytes, |values| {
            let groups = values.as_chunks::<16>().0;
            block(values, &std::array::from_fn(|g| search::signed_scale(&groups[g], 4.0)))
        });
    },
};

/// As `encode`, errors weighted by the importance of each value.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    weighted::each_block(values, importance, bytes, |values, weights, out| {
        let (groups, weights) = (values.as_chunks::<16>().0, weights.as_chunks::<16>().0);
        let scale = |g: usize| search::weighted_signed_scale(&groups[g], &weights[g], 4.0);
        *out = block(values, &std::array::from_fn(scale));
    });
}

fn group(block: &[u8; 110], index: usize) -> Group {
    let scales = &block[96..108];
    let low = scales[index % 8] >> (index / 8 * 4) & 15;
    let high = scales[8 + index % 4] >> (index / 4 * 2) & 3;
    let step = halves::read([block[108], block[109]]) * (f32::from(low | high << 4) - 32.0);
    let level = |j: usize| pair_of_bits(&block[32..96], j) | (block[j % 32] >> (j / 32) & 1) << 2;
    Group::signed(step, sixteen(index, |j| level(j).cast_signed() - 4))
}

/// The block of values whose groups should have these scales.
fn block(values: &[f32; 256], wanted: &[f32; 16]) -> [u8; 110] {
    let groups = values.as_chunks::<16>().0;
    let (d_bytes, d) = halves::round(halves::peak(wanted) / -32.0);
    let mut out = [0; 110];
    let mut levels = [0; 256];
    for (g, levels) in levels.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = halves::level(wanted[g] * halves::inverse(d) + 32.0, 63);
        out[96 + g % 8] |= (scale & 15) << (g / 8 * 4);
        out[104 + g % 4] |= (scale >> 4) << (g / 4 * 2);
        let inverse = halves::inverse(d * (f32::from(scale) - 32.0));
        *levels = groups[g].map(|x| halves::level(x * inverse + 4.0, 7));
    }
    for (j, level) in levels.iter().enumerate() {
        out[j % 32] |= (level >> 2) << (j / 32);
    }
    out[32..96].copy_from_slice(&pack_pairs(&levels));
    out[108..110].copy_from_slice(&d_bytes);
    out
}
