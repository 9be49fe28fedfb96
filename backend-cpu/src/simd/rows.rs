//! Reading several rows of weights side by side.

use super::lanes::Lanes;

/// A place in `WIDTH` rows.
pub(crate) struct Rows {
    /// The place in the first row.
    at: *const u8,
    /// Bytes from one row to the next.
    stride: usize,
    /// Bytes asked for since the last [`Rows::skip`].
    asked: usize,
    pub ahead: Ahead,
}

impl Rows {
    #[inline(always)]
    pub fn new(at: *const u8, stride: usize, ahead: Ahead) -> Self {
        Rows { at, stride, asked: 0, ahead }
    }

    /// Four bytes of each row, from an offset on.
    ///
    /// # Safety
    /// They must be readable.
    #[inline(always)]
    pub unsafe fn four<L: Lanes>(&mut self, offset: usize) -> L::I {
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
    pub fn skip<L: Lanes>(&mut self, bytes: usize) {
        let rest = (bytes * L::WIDTH).saturating_sub(self.asked);
        self.ask::<L>(rest);
        self.asked = 0;
        self.at = self.at.wrapping_add(bytes);
    }

    #[inline(always)]
    fn ask<L: Lanes>(&mut self, bytes: usize) {
        self.asked += bytes;
        self.ahead.ask::<L>(bytes);
    }
}

/// What to ask memory for while other bytes are worked on, in order and about as fast as these.
///
/// Rows are walked side by side, which the processor's own prefetching does not follow; in the order of memory it does.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    /// What comes next. It may lie beyond the weights.
    at: *const u8,
}

impl Ahead {
    /// Small groups of rows are asked for this many bytes before they are used.
    const DISTANCE: usize = 18 * 1024;

    /// While a group of rows is walked, the bytes of those after it.
    #[inline(always)]
    pub fn of_rows(group: *const u8, bytes: usize) -> Self {
        Ahead { at: group.wrapping_add(bytes.max(Self::DISTANCE)) }
    }

    #[inline(always)]
    fn ask<L: Lanes>(&mut self, bytes: usize) {
        for line in (0..bytes).step_by(64) {
            L::prefetch(self.at.wrapping_add(line));
        }
        self.at = self.at.wrapping_add(bytes);
    }
}
