//! Cached rows of one head, and copies of them for matrix products.

use half::f16;

use super::lanes::Lanes;
use super::level::{Simd, Task};
use super::vector::Element;

/// Rows of f32 or f16 values. Widths are multiples of 16.
#[derive(Clone, Copy)]
pub struct Rows {
    start: *const u8,
    stride: usize,
    pub(super) width: usize,
    pub(super) count: usize,
    pub(super) half: bool,
}

impl Rows {
    /// `count` rows of `width` values, `stride` bytes apart; no rows if the width is not a multiple of 16.
    ///
    /// # Safety
    /// The rows must be readable, aligned to their type, and nobody may write them while this value is in use.
    pub unsafe fn new(start: *const u8, stride: usize, width: usize, count: usize, half: bool) -> Self {
        let count = if width.is_multiple_of(16) { count } else { 0 };
        Rows { start, stride, width, count, half }
    }

    pub(super) fn typed<E>(self) -> Typed<E> {
        Typed { start: self.start.cast(), stride: self.stride, width: self.width, count: self.count }
    }

    /// `to[i][c] = value i of row c`. Rows of `to` are `pitch` values; those beyond the last row stay as they are.
    pub fn transpose(self, simd: Simd, to: &mut [f32], pitch: usize) {
        if self.count > pitch || to.len() < self.width * pitch {
            return;
        }
        match self.half {
            true => simd.run(Transpose { rows: self.typed::<f16>(), to, pitch }),
            false => simd.run(Transpose { rows: self.typed::<f32>(), to, pitch }),
        }
    }

    /// The rows as packed floats.
    pub fn unpack(self, simd: Simd, to: &mut [f32]) {
        if to.len() < self.width * self.count {
            return;
        }
        match self.half {
            true => simd.run(Unpack { rows: self.typed::<f16>(), to }),
            false => simd.run(Unpack { rows: self.typed::<f32>(), to }),
        }
    }
}

/// [`Rows`] whose type is known.
#[derive(Clone, Copy)]
pub(super) struct Typed<E> {
    start: *const E,
    stride: usize,
    pub(super) width: usize,
    pub(super) count: usize,
}

impl<E> Typed<E> {
    #[inline(always)]
    pub(super) fn at(&self, row: usize) -> *const E {
        self.start.wrapping_byte_add(row * self.stride)
    }
}

/// Elements of caches.
pub(super) trait Cached: Element {
    /// Values in 32 bytes, at most 16.
    const GATHERED: usize;
    /// The values of the first 32 bytes of `WIDTH` rows, a register for each; as many as are gathered count.
    /// # Safety
    /// 32 bytes of each row must be readable.
    unsafe fn gather<L: Lanes>(rows: *const Self, stride: usize) -> [L::F; 16];
    fn to_float(self) -> f32;
}

impl Cached for f32 {
    const GATHERED: usize = 8;
    #[inline(always)]
    unsafe fn gather<L: Lanes>(rows: *const f32, stride: usize) -> [L::F; 16] {
        // SAFETY: as the caller says.
        let parts = unsafe { L::gather_thirty_two(rows.cast(), stride) };
        let mut all = [L::splat(0.0); 16];
        for i in 0..8 {
            all[i] = L::as_float(parts[i / 4][i % 4]);
        }
        all
    }
    #[inline(always)]
    fn to_float(self) -> f32 {
        self
    }
}

impl Cached for f16 {
    const GATHERED: usize = 16;
    #[inline(always)]
    unsafe fn gather<L: Lanes>(rows: *const f16, stride: usize) -> [L::F; 16] {
        // SAFETY: as the caller says.
        let parts = unsafe { L::gather_thirty_two(rows.cast(), stride) };
        let mut all = [L::splat(0.0); 16];
        for i in 0..8 {
            let pair = parts[i / 4][i % 4];
            all[2 * i] = L::low_half(pair);
            all[2 * i + 1] = L::low_half(L::shift_right(pair, 16));
        }
        all
    }
    #[inline(always)]
    fn to_float(self) -> f32 {
        self.to_f32()
    }
}

struct Transpose<'a, E> {
    rows: Typed<E>,
    to: &'a mut [f32],
    pitch: usize,
}

impl<E: Cached> Task for Transpose<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Typed { stride, width, count, .. } = self.rows;
        let whole = count / L::WIDTH * L::WIDTH;
        for first in (0..whole).step_by(L::WIDTH) {
            for at in (0..width).step_by(E::GATHERED) {
                // SAFETY: `WIDTH` rows follow `first`, and 32 bytes of each `at`; `to` has `width` rows of `pitch`.
                unsafe {
                    let columns = E::gather::<L>(self.rows.at(first).add(at), stride);
                    for i in 0..E::GATHERED {
                        L::store(self.to.as_mut_ptr().add((at + i) * self.pitch + first), columns[i]);
                    }
                }
            }
        }
        for cell in whole..count {
            for at in 0..width {
                // SAFETY: `at` is below the width of the row.
                self.to[at * self.pitch + cell] = unsafe { self.rows.at(cell).add(at).read() }.to_float();
            }
        }
    }
}

struct Unpack<'a, E> {
    rows: Typed<E>,
    to: &'a mut [f32],
}

impl<E: Cached> Task for Unpack<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Typed { width, count, .. } = self.rows;
        for cell in 0..count {
            let (from, to) = (self.rows.at(cell), self.to[cell * width..(cell + 1) * width].as_mut_ptr());
            for at in (0..width).step_by(L::WIDTH) {
                // SAFETY: widths are multiples of 16 and so of `WIDTH`.
                unsafe { L::store(to.add(at), E::load::<L>(from.add(at))) };
            }
        }
    }
}
