//! Q4_K: 256 values of four bits in 8 groups of 32, each with a six-bit scale and minimum.
//!
//! Bytes: f16 `d`, f16 `dmin`; 12 bytes of scales (see `scales.rs`); 128 bytes. Each 64 values own 32 of those bytes:
//! the low nibbles of all are the first 32 values, the high nibbles the other 32. `x = d · sc · q − dmin · mn`

use super::{BlockType, halves, scales, search, weighted};
use crate::graph::DType;

/// The codec.
pub static TYPE: BlockType = BlockType { dtype: DType::Q4_K, decode, encode };

fn decode(bytes: &[u8], values: &mut [f32]) {
    for (block, out) in bytes.as_chunks::<144>().0.iter().zip(values.as_chunks_mut::<256>().0) {
        let (header, nibbles) = Header::read(block);
        let pairs = out.as_chunks_mut::<64>().0.iter_mut().zip(nibbles.as_chunks::<32>().0);
        for (i, (out, nibbles)) in pairs.enumerate() {
            let ((low, low_minimum), (high, high_minimum)) = (header.line(2 * i), header.line(2 * i + 1));
            for (j, byte) in nibbles.iter().enumerate() {
                out[j] = low * f32::from(byte & 15) - low_minimum;
                out[j + 32] = high * f32::from(byte >> 4) - high_minimum;
            }
        }
    }
}

fn encode(values: &[f32], bytes: &mut [u8]) {
    for (source, block) in values.as_chunks::<256>().0.iter().zip(bytes.as_chunks_mut::<144>().0) {
        put(source, &Header::choose(source, 15), block);
    }
}

/// As `encode`, errors weighted by the importance of each value.
pub(super) fn encode_weighted(values: &[f32], importance: &[f32], bytes: &mut [u8]) {
    for (source, importance, block) in weighted::blocks::<256, 144>(values, importance, bytes) {
        put(source, &Header::choose_weighted(source, importance, 15), block);
    }
}

fn put(source: &[f32; 256], header: &Header, block: &mut [u8]) {
    let levels = header.levels(source, 15);
    let nibbles = header.write(block);
    for (levels, nibbles) in levels.as_chunks::<64>().0.iter().zip(nibbles.as_chunks_mut::<32>().0) {
        for (j, byte) in nibbles.iter_mut().enumerate() {
            *byte = levels[j] | levels[j + 32] << 4;
        }
    }
}

/// The first 16 bytes of a Q4_K or Q5_K block.
pub(super) struct Header {
    d: f32,
    d_minimum: f32,
    groups: [(u8, u8); 8],
}

impl Header {
    /// The header of a block and the bytes behind it.
    pub(super) fn read(block: &[u8]) -> (Self, &[u8]) {
        let Some((&[d0, d1, m0, m1, ref packed @ ..], rest)) = block.split_first_chunk::<16>() else {
            return (Self { d: 0.0, d_minimum: 0.0, groups: [(0, 0); 8] }, &[]);
        };
        let header = Self {
            d: halves::read([d0, d1]),
            d_minimum: halves::read([m0, m1]),
            groups: scales::unpack(packed),
        };
        (header, rest)
    }

    /// Writes the header and returns the bytes behind it.
    pub(super) fn write<'a>(&self, block: &'a mut [u8]) -> &'a mut [u8] {
        let Some((header, rest)) = block.split_first_chunk_mut::<16>() else { return &mut [] };
        let [d0, d1, m0, m1, packed @ ..] = header;
        [*d0, *d1] = halves::round(self.d).0;
        [*m0, *m1] = halves::round(self.d_minimum).0;
        *packed = scales::pack(&self.groups);
        rest
    }

    /// Step and minimum of a group: `x = step · q − minimum`.
    pub(super) fn line(&self, group: usize) -> (f32, f32) {
        let (scale, minimum) = self.groups[group];
        (self.d * f32::from(scale), self.d_minimum * f32::from(minimum))
    }

    /// The header for given values with levels `0..=top`.
    pub(super) fn choose(values: &[f32; 256], top: u8) -> Self {
        let mut lines = [(0.0f32, 0.0f32); 8];
        for (line, group) in lines.iter_mut().zip(values.as_chunks::<32>().0) {
            *line = search::scale_and_minimum(group, top);
        }
        Self::nearest(lines)
    }

    /// The header for given values with levels `0..=top`, errors weighted by the importance of each value.
    pub(super) fn choose_weighted(values: &[f32; 256], importance: &[f32; 256], top: u8) -> Self {
        let weights = weighted::weights(values, importance);
        let mut lines = [(0.0f32, 0.0f32); 8];
        let groups = values.as_chunks::<32>().0.iter().zip(weights.as_chunks::<32>().0);
        for (line, (group, weights)) in lines.iter_mut().zip(groups) {
            *line = search::weighted_scale_and_minimum(group, weights, top);
        }
        Self::nearest(lines)
    }

    /// The header whose scales and minima are nearest to these.
    fn nearest(lines: [(f32, f32); 8]) -> Self {
        let largest =
            lines.iter().fold((0.0f32, 0.0f32), |most, line| (most.0.max(line.0), most.1.max(line.1)));
        let d = halves::round(largest.0 / 63.0).1;
        let d_minimum = halves::round(largest.1 / 63.0).1;
        let (inverse, inverse_minimum) = (halves::inverse(d), halves::inverse(d_minimum));
        let groups = lines.map(|(scale, minimum)| {
            (halves::level(scale * inverse, 63), halves::level(minimum * inverse_minimum, 63))
        });
        Self { d, d_minimum, groups }
    }

    /// The nearest level of each value.
    pub(super) fn levels(&self, values: &[f32; 256], top: u8) -> [u8; 256] {
        let mut levels = [0; 256];
        let groups = values.as_chunks::<32>().0.iter().zip(levels.as_chunks_mut::<32>().0);
        for (group, (values, levels)) in groups.enumerate() {
            let (step, minimum) = self.line(group);
            let inverse = halves::inverse(step);
            *levels = values.map(|x| halves::level((x + minimum) * inverse, top));
        }
        levels
    }
}
