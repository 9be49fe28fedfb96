//! Weights as a GPU likes to read them: the parts of a quantised row one behind the other, each aligned to 16 bytes.
//!
//! A GGUF row is a run of blocks, and a block of most types has a size that no wide load fits. A repacked row holds the
//! same bytes: first the levels of all its blocks, then their scales. Types whose blocks are whole multiples of 16 bytes
//! stay as they are.

use crate::graph::{DType, Layout};
/// A part of each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// First byte in the block.
    pub start: u32,
    /// How many bytes.
    pub bytes: u32,
}

const fn part(start: u32, bytes: u32) -> Part {
    Part { start, bytes }
}

/// The parts of a type's blocks in the order in which a repacked row holds them; none for a type that stays as it is.
pub const fn parts(dtype: DType) -> &'static [Part] {
    match dtype {
        DType::Q4_0 => const { &[part(2, 16), part(0, 2)] },
        DType::Q4_1 => const { &[part(4, 16), part(0, 4)] },
        DType::Q5_0 => const { &[part(6, 16), part(2, 4), part(0, 2)] },
        DType::Q5_1 => const { &[part(8, 16), part(4, 4), part(0, 4)] },
        DType::Q8_0 => const { &[part(2, 32), part(0, 2)] },
        DType::Q6_K => const { &[part(0, 128), part(128, 64), part(192, 16), part(208, 2)] },
        DType::Q2_K => const { &[part(16, 64), part(0, 16), part(80, 4)] },
        DType::Q3_K => const { &[part(32, 64), part(0, 32), part(96, 12), part(108, 2)] },
        DType::IQ1_S => const { &[part(2, 32), part(34, 16), part(0, 2)] },
        DType::IQ1_M => const { &[part(0, 32), part(32, 16), part(48, 8)] },
        DType::IQ2_XXS => const { &[part(2, 64), part(0, 2)] },
        DType::IQ2_XS => const { &[part(2, 64), part(66, 8), part(0, 2)] },
        DType::IQ2_S => const { &[part(2, 64), part(66, 16), part(0, 2)] },
        DType::IQ3_XXS => const { &[part(2, 64), part(66, 32), part(0, 2)] },
        DType::IQ3_S => const { &[part(2, 64), part(66, 44), part(0, 2)] },
        DType::IQ4_NL | DType::Q1_0 | DType::Q2_0 => const { &[part(2, 16), part(0, 2)] },
        DType::IQ4_XS => const { &[part(8, 128), part(0, 8)] },
        DType::TQ1_0 => const { &[part(0, 48), part(48, 4), part(52, 2)] },
        DType::TQ2_0 => const { &[part(0, 64), part(64, 2)] },
        DType::MXFP4 => const { &[part(1, 16), part(0, 1)] },
        DType::NVFP4 => const { &[part(4, 32), part(0, 4)] },
        _ => &[],
    }
}

/// How a weight lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    /// Element type.
    pub dtype: DType,
    /// Blocks of one row.
    pub blocks: u64,
    /// Rows of all outer dimensions.
    pub rows: u64,
}

impl Rows {
    /// The rows of a packed weight, if its type is one that is repacked.
    pub fn of(layout: &Layout) -> Option<Self> {
        let whole = layout.is_packed() && layout.offset == 0 && !layout.is_empty();
        (whole && !parts(layout.dtype).is_empty()).then(|| Rows {
            dtype: layout.dtype,
            blocks: layout.shape[0] / layout.dtype.block_values(),
            rows: layout.rows(),
        })
    }

    /// Bytes of a row in the file.
    pub fn raw_pitch(&self) -> u64 {
        self.blocks * self.dtype.block_bytes()
    }

    /// Bytes of a repacked row.
    pub fn pitch(&self) -> u64 {
        parts(self.dtype).iter().map(|p| (self.blocks * u64::from(p.bytes)).next_multiple_of(16)).sum()
    }

    /// Bytes of all.
    pub fn bytes(&self) -> u64 {
        self.pitch() * self.rows
    }

    /// A layout of the file's bytes in terms of repacked rows: strides and offset of rows in bytes of the buffer, and the
    /// first block inside a row. `None` where the layout does not address whole blocks of these rows.
    pub fn translate(&self, layout: &Layout) -> Option<(Layout, u64)> {
        let (raw, pitch, unit) = (self.raw_pitch(), self.pitch(), self.dtype.block_bytes());
        let blocks = layout.shape[0] / layout.dtype.block_values();
        let packed = layout.strides[0] == unit || blocks <= 1;
        let first = layout.offset % raw;
        if layout.dtype != self.dtype
            || !packed
            || !first.is_multiple_of(unit)
            || first / unit + blocks > self.blocks
        {
            return None;
        }
        let mut translated = *layout;
        translated.offset = layout.offset / raw * pitch;
        for dim in (1..4).filter(|dim| layout.shape[*dim] > 1) {
            if !layout.strides[dim].is_multiple_of(raw) {
                return None;
            }
            translated.strides[dim] = layout.strides[dim] / raw * pitch;
        }
        Some((translated, first / unit))
    }

    /// Repacks rows of a file into rows of a buffer.
    pub fn pack(&self, raw: &[u8], into: &mut [u8]) {
        let (raw_pitch, pitch) = (self.raw_pitch() as usize, self.pitch() as usize);
        for (row, out) in raw.chunks_exact(raw_pitch).zip(into.chunks_exact_mut(pitch)) {
            let mut start = 0;
            for part in parts(self.dtype) {
                let bytes = part.bytes as usize;
                let end = start + (self.blocks as usize * bytes).next_multiple_of(16);
                let (plane, padding) = out[start..end].split_at_mut(self.blocks as usize * bytes);
                let blocks = row.chunks_exact(self.dtype.block_bytes() as usize);
                for (block, out) in blocks.zip(plane.chunks_exact_mut(bytes)) {
                    out.copy_from_slice(&block[part.start as usize..][..bytes]);
                }
                padding.fill(0);
                start = end;
            }
        }
    }
}
