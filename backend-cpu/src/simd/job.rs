//! What both modes share: checked operands, incomplete groups of rows, tiles of columns.

use std::mem::MaybeUninit;

use super::operands::{Output, Weights};

/// Checked operands: `out.columns()` columns begin `column` elements of `A` apart.
pub(crate) struct Job<'a, A> {
    pub weights: Weights<'a>,
    pub activations: *const A,
    pub column: usize,
    pub out: Output<'a>,
}

impl<A> Job<'_, A> {
    /// The place of a column from a value on, in the given units.
    pub fn activations(&self, column: usize, at: usize) -> *const A {
        self.activations.wrapping_add(column * self.column + at)
    }
}

/// Bytes of a slab of the widest registers' rows, for the type with the most bytes.
pub(crate) const TAIL: usize = 16 * 256 * 4;

/// Rows that do not fill a group are copied here, so that a group may read beyond them.
pub(crate) struct Tail(MaybeUninit<[u8; TAIL]>);

impl Tail {
    pub fn new() -> Self {
        Tail(MaybeUninit::uninit())
    }

    /// Where a group of `width` rows begins and how far apart rows are.
    ///
    /// # Safety
    /// `bytes` of each of `rows` rows must be readable.
    #[inline(always)]
    pub unsafe fn group(
        &mut self,
        from: *const u8,
        stride: usize,
        rows: usize,
        sizes: (usize, usize),
    ) -> (*const u8, usize) {
        let (width, bytes) = sizes;
        if rows >= width {
            return (from, stride);
        }
        let to = self.0.as_mut_ptr().cast::<u8>();
        for row in 0..width {
            // SAFETY: `bytes` is at most that of a slab, so that `width` rows fit; missing rows repeat the last one.
            unsafe {
                to.add(row * bytes).copy_from_nonoverlapping(from.add(row.min(rows - 1) * stride), bytes)
            };
        }
        (to, bytes)
    }
}

/// Cuts columns into tiles of nearly equal width.
#[inline(always)]
pub(crate) fn for_tiles(columns: usize, widest: usize, mut each: impl FnMut(usize, usize)) {
    let mut column = 0;
    for left in (1..=columns.div_ceil(widest)).rev() {
        let width = (columns - column).div_ceil(left);
        each(column, width);
        column += width;
    }
}
