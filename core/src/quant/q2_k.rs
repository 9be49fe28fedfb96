//! Q2_K: 256 values of two bits in 16 groups of 16, each with a four-bit scale and minimum.
//!
//! Bytes: 16 of groups, scale in the low nibble and minimum in the high one; 64 bytes; f16 `d`, f16 `dmin`. Each 128 values
//! own 32 of the 64 bytes: bits `2p` of byte `l` are value `l + 32p`. `x = d · sc · q − dmin · mn`

use super::groups::{self, Group, pack_pairs, pair_of_bits, sixteen};
use super::{BlockType, halves, search, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType {
    dtype: DType::Q2_K,
    decode: |bytes, values| groups::decode::<84, 256>(bytes, values, group),
    encode: |values, bytes| {
        groups::encode::<84, 256>(values, bytes, |values| {
            let groups = values.as_chunks::<16>().0;
            block(values, &std::array::from_fn(|g| search::scale_and_minimum(&groups[g], 3)))
        });
    },
};

/// As `encode`, errors weighted by the importance of each value.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    weighted::each_block(values, importance, bytes, |values, weights, out| {
        let (groups, weights) = (values.as_chunks::<16>().0, weights.as_chunks::<16>().0);
        let line = |g: usize| search::weighted_scale_and_minimum(&groups[g], &weights[g], 3);
        *out = block(values, &std::array::from_fn(line));
    });
}

fn group(block: &[u8; 84], index: usize) -> Group {
    let (d, least) = (halves::read([block[80], block[81]]), halves::read([block[82], block[83]]));
    Group {
        levels: sixteen(index, |j| pair_of_bits(&block[16..80], j).cast_signed()),
        step: d * f32::from(block[index] & 15),
        least: least * f32::from(block[index] >> 4),
    }
}

/// The block of values whose groups have these scales and minima.
fn block(values: &[f32; 256], lines: &[(f32, f32); 16]) -> [u8; 84] {
    let groups = values.as_chunks::<16>().0;
    let most = lines.iter().fold((0.0f32, 0.0f32), |most, line| (most.0.max(line.0), most.1.max(line.1)));
    let ((d_bytes, d), (least_bytes, least)) = (halves::round(most.0 / 15.0), halves::round(most.1 / 15.0));
    let mut out = [0; 84];
    let mut levels = [0; 256];
    for (g, levels) in levels.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = halves::level(lines[g].0 * halves::inverse(d), 15);
        let minimum = halves::level(lines[g].1 * halves::inverse(least), 15);
        out[g] = scale | minimum << 4;
        let (inverse, minimum) = (halves::inverse(d * f32::from(scale)), least * f32::from(minimum));
        *levels = groups[g].map(|x| halves::level((x + minimum) * inverse, 3));
    }
    out[16..80].copy_from_slice(&pack_pairs(&levels));
    out[80..82].copy_from_slice(&d_bytes);
    out[82..84].copy_from_slice(&least_bytes);
    out
}
