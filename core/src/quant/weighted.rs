//! Encoding where some columns matter more than others, as an importance matrix says.

use super::{iq4_nl, iq4_xs, q2_k, q3_k, q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k};
use crate::graph::DType;

/// Encodes whole blocks; slices as in [`super::BlockType::encode`], with the importance of each value between them.
type Encode = fn(values: &[f32], importance: &[f32], bytes: &mut [u8]);

/// The types whose scales are searched for by weighted errors. Others have no scale, or one that the peak decides.
const TYPES: [(DType, Encode); 11] = [
    (DType::Q4_0, q4_0::encode_weighted),
    (DType::Q4_1, q4_1::encode_weighted),
    (DType::Q5_0, q5_0::encode_weighted),
    (DType::Q5_1, q5_1::encode_weighted),
    (DType::Q4_K, q4_k::encode_weighted),
    (DType::Q5_K, q5_k::encode_weighted),
    (DType::Q6_K, q6_k::encode_weighted),
    (DType::Q2_K, q2_k::encode_weighted),
    (DType::Q3_K, q3_k::encode_weighted),
    (DType::IQ4_NL, iq4_nl::encode_weighted),
    (DType::IQ4_XS, iq4_xs::encode_weighted),
];

pub(super) fn encoder(dtype: DType) -> Option<Encode> {
    TYPES.iter().find(|known| known.0 == dtype).map(|known| known.1)
}

/// How much each error of a block counts: the importance of its column, and more where the value itself is large.
pub(super) fn weights<const N: usize>(values: &[f32; N], importance: &[f32; N]) -> [f32; N] {
    let square = values.iter().map(|x| x * x).sum::<f32>() / N as f32;
    std::array::from_fn(|at| importance[at] * (square + values[at] * values[at]).sqrt())
}

/// Values, importance and bytes of each block.
pub(super) fn blocks<'a, const N: usize, const BYTES: usize>(
    values: &'a [f32],
    importance: &'a [f32],
    bytes: &'a mut [u8],
) -> impl Iterator<Item = (&'a [f32; N], &'a [f32; N], &'a mut [u8; BYTES])> {
    let sources = values.as_chunks::<N>().0.iter().zip(importance.as_chunks::<N>().0);
    sources
        .zip(bytes.as_chunks_mut::<BYTES>().0)
        .map(|((source, importance), block)| (source, importance, block))
}

/// Calls `put` with the values, the weights and the bytes of each block.
pub(super) fn each_block<const N: usize, const BYTES: usize>(
    values: &[f32],
    importance: &[f32],
    bytes: &mut [u8],
    put: impl Fn(&[f32; N], &[f32; N], &mut [u8; BYTES]),
) {
    for (source, importance, block) in blocks(values, importance, bytes) {
        put(source, &weights(source, importance), block);
    }
}
