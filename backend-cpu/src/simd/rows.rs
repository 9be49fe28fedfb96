//! Reading several rows of weights side by side.

use super::lanes::Lanes;

/// A place in `WIDTH` rows.
///
/// Rows are walked side by side, which the processor's own prefetching does not follow. So the rows after these are
/// asked for meanwhile, in the order of memory and about as fast as these are read.
pub(crate) struct Rows {
    /// The place in the first row.
    pub at: *const u8,
    /// Bytes from one row to the next.
    pub stride: usize,
    /// What to ask for next. It may lie beyond the weights.
    pub ahead: *const u8,
}

impl Rows {
    /// Four bytes of each row, from an offset on.
    ///
    /// # Safety
    /// They must be readable.
    #[inline(always)]
    pub unsafe fn four<L: Lanes>(&mut self, offset: usize) -> L::I {
        self.ask::<L>(64);
        // SAFETY: as the caller says.
        unsafe { L::gather(self.at.add(offset), self.stride) }
    }

    /// Sixteen bytes of each row, from an offset on: register `i` holds the bytes `4i..4i + 4`.
    ///
    /// # Safety
    /// They must be readable.
    #[inline(always)]
    pub unsafe fn sixteen<L: Lanes>(&mut self, offset: usize) -> [L::I; 4] {
        self.ask::<L>(16 * L::WIDTH);
        // SAFETY: as the caller says.
        unsafe { L::gather_sixteen(self.at.add(offset), self.stride) }
    }

    /// 32 bytes of each row, from an offset on, as twice sixteen.
    ///
    /// # Safety
    /// They must be readable.
    #[inline(always)]
    pub unsafe fn thirty_two<L: Lanes>(&mut self, offset: usize) -> [[L::I; 4]; 2] {
        self.ask::<L>(32 * L::WIDTH);
        // SAFETY: as the caller says.
        unsafe { L::gather_thirty_two(self.at.add(offset), self.stride) }
    }

    /// Goes on by some bytes of each row.
    #[inline(always)]
    pub fn skip(&mut self, bytes: usize) {
        self.at = self.at.wrapping_add(bytes);
    }

    #[inline(always)]
    fn ask<L: Lanes>(&mut self, bytes: usize) {
        for line in (0..bytes).step_by(64) {
            L::prefetch(self.ahead.wrapping_add(line));
        }
        self.ahead = self.ahead.wrapping_add(bytes);
    }
}
