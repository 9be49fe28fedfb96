//! Q6_K: 256 values of six bits around zero in 16 groups of 16, each with an eight-bit scale.
//!
//! Bytes: 128 of low nibbles `ql`, 64 of upper pairs of bits `qh`, 16 i8 scales, f16 `d`. Each half of 128 values owns
//! 64 bytes of `ql`, 32 of `qh` and 8 scales: value `l + 32p` takes its low bits from `ql[l]`, `ql[l + 32]` (low
//! nibbles), `ql[l]`, `ql[l + 32]` (high nibbles) for `p` 0 to 3, its upper bits from `qh[l]` at shift `2p`, its scale
//! from index `l / 16 + 2p`. `x = d · sc · (q − 32)`

use super::{BlockType, halves, search, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType { dtype: DType::Q6_K, decode, encode };

fn decode(bytes: &[u8], values: &mut [f32]) {
    for (block, out) in bytes.as_chunks::<210>().0.iter().zip(values.as_chunks_mut::<256>().0) {
        let (low, rest) = block.split_at(128);
        let (high, rest) = rest.split_at(64);
        let (scales, d) = rest.split_at(16);
        let d = halves::read([d[0], d[1]]);
        let steps: [f32; 16] = std::array::from_fn(|group| d * f32::from(scales[group].cast_signed()));
        let halves = out.as_chunks_mut::<128>().0.iter_mut();
        for (half, out) in halves.enumerate() {
            let (low, high, steps) =
                (&low[64 * half..][..64], &high[32 * half..][..32], &steps[8 * half..][..8]);
            for l in 0..32 {
                let levels = [
                    (low[l] & 15) | (high[l] & 3) << 4,
                    (low[l + 32] & 15) | (high[l] >> 2 & 3) << 4,
                    (low[l] >> 4) | (high[l] >> 4 & 3) << 4,
                    (low[l + 32] >> 4) | (high[l] >> 6) << 4,
                ];
                for (p, level) in levels.into_iter().enumerate() {
                    out[l + 32 * p] = steps[l / 16 + 2 * p] * (f32::from(level) - 32.0);
                }
            }
        }
    }
}

fn encode(values: &[f32], bytes: &mut [u8]) {
    for (source, block) in values.as_chunks::<256>().0.iter().zip(bytes.as_chunks_mut::<210>().0) {
        let groups = source.as_chunks::<16>().0;
        put(source, std::array::from_fn(|at| search::signed_scale(&groups[at], 32.0)), block);
    }
}

/// As `encode`, errors weighted by the importance of each value.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    for (source, importance, block) in weighted::blocks::<256, 210>(values, importance, bytes) {
        let (groups, weights) = (source.as_chunks::<16>().0, importance.as_chunks::<16>().0);
        let scale = |at: usize| search::weighted_signed_scale(&groups[at], &weights[at], 32.0);
        put(source, std::array::from_fn(scale), block);
    }
}

fn put(source: &[f32; 256], wanted: [f32; 16], block: &mut [u8]) {
    let (low, rest) = block.split_at_mut(128);
    let (high, rest) = rest.split_at_mut(64);
    let (scales, d_bytes) = rest.split_at_mut(16);
    let levels = choose(source, wanted, scales, d_bytes);
    for (half, levels) in levels.as_chunks::<128>().0.iter().enumerate() {
        let (low, high) = (&mut low[64 * half..][..64], &mut high[32 * half..][..32]);
        for l in 0..32 {
            let [a, b, c, d] = [levels[l], levels[l + 32], levels[l + 64], levels[l + 96]];
            low[l] = (a & 15) | (c & 15) << 4;
            low[l + 32] = (b & 15) | (d & 15) << 4;
            high[l] = (a >> 4) | (b >> 4) << 2 | (c >> 4) << 4 | (d >> 4) << 6;
        }
    }
}

/// Writes the scales nearest to those wanted and `d` of a block, and returns the level of each value in its own order.
fn choose(source: &[f32; 256], wanted: [f32; 16], scales: &mut [u8], d_bytes: &mut [u8]) -> [u8; 256] {
    let groups = source.as_chunks::<16>().0;
    let (bytes, d) = halves::round(halves::peak(&wanted) / -128.0);
    d_bytes.copy_from_slice(&bytes);
    let inverse = halves::inverse(d);
    let mut levels = [0; 256];
    for (group, out) in levels.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let scale = (wanted[group] * inverse).round().clamp(-128.0, 127.0) as i8;
        scales[group] = scale.cast_unsigned();
        let inverse = halves::inverse(d * f32::from(scale));
        *out = groups[group].map(|x| halves::level(x * inverse + 32.0, 63));
    }
    levels
}
