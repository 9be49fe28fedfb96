//! Cached rows of one head, and copies of them for matrix products.

use std::marker::PhantomData;

use half::f16;
use weft_core::graph::DType;

use super::lanes::Lanes;
use super::level::{Simd, Task};
use super::vector::Element;

/// Rows of a type that [`Rows::TYPES`] names. Widths are multiples of 16, of quantised types of whole blocks.
#[derive(Clone, Copy)]
pub struct Rows {
    start: *const u8,
    stride: usize,
    pub(super) width: usize,
    pub(super) count: usize,
    pub(super) dtype: DType,
}

impl Rows {
    /// Types of elements.
    pub const TYPES: [DType; 4] = [DType::F32, DType::F16, DType::Q8_0, DType::Q4_0];

    /// `count` rows of `width` values, `stride` bytes apart; no rows if the width is not a multiple of 16 and of whole blocks,
    /// or the type is none of [`Rows::TYPES`].
    ///
    /// # Safety
    /// The rows must be readable, aligned to their type, and nobody may write them while this value is in use.
    pub unsafe fn new(start: *const u8, stride: usize, width: usize, count: usize, dtype: DType) -> Self {
        let whole = width.is_multiple_of(16.max(dtype.block_values() as usize));
        let count = if whole && Self::TYPES.contains(&dtype) { count } else { 0 };
        Rows { start, stride, width, count, dtype }
    }

    pub(super) fn typed<E>(self) -> Typed<E> {
        let Rows { start, stride, width, count, .. } = self;
        Typed { start, stride, width, count, element: PhantomData }
    }

    /// `to[i][c] = value i of row c`. Rows of `to` are `pitch` values; those beyond the last row stay as they are. Blocks are
    /// first unpacked into `room`.
    pub fn transpose(self, simd: Simd, to: &mut [f32], pitch: usize, room: &mut [f32]) {
        if self.count > pitch || to.len() < self.width * pitch {
            return;
        }
        match self.dtype {
            DType::F32 => simd.run(Transpose { rows: self.typed::<f32>(), to, pitch }),
            DType::F16 => simd.run(Transpose { rows: self.typed::<f16>(), to, pitch }),
            _ if room.len() < self.width * self.count => {}
            _ => {
                self.unpack(simd, room);
                let (start, stride) = (room.as_ptr().cast(), self.width * size_of::<f32>());
                let rows = Rows { start, stride, dtype: DType::F32, ..self };
                simd.run(Transpose { rows: rows.typed::<f32>(), to, pitch });
            }
        }
    }

    /// The rows as packed floats.
    pub fn unpack(self, simd: Simd, to: &mut [f32]) {
        if to.len() < self.width * self.count {
            return;
        }
        match self.dtype {
            DType::F32 => simd.run(Unpack { rows: self.typed::<f32>(), to }),
            DType::F16 => simd.run(Unpack { rows: self.typed::<f16>(), to }),
            DType::Q8_0 => simd.run(Unpack { rows: self.typed::<BytesOf32>(), to }),
            _ => simd.run(Unpack { rows: self.typed::<NibblesOf32>(), to }),
        }
    }
}

/// [`Rows`] whose type is known.
#[derive(Clone, Copy)]
pub(super) struct Typed<E> {
    start: *const u8,
    stride: usize,
    pub(super) width: usize,
    pub(super) count: usize,
    element: PhantomData<E>,
}

impl<E> Typed<E> {
    #[inline(always)]
    pub(super) fn at(&self, row: usize) -> *const u8 {
        self.start.wrapping_add(row * self.stride)
    }
}

/// Types of cached rows.
pub(super) trait Cached: Copy {
    /// `WIDTH` values of a row from `at` on, a multiple of `WIDTH`.
    /// # Safety
    /// The values, and the blocks that they lie in, must be readable.
    unsafe fn load<L: Lanes>(row: *const u8, at: usize) -> L::F;
}

/// Blocks of Q8_0.
#[derive(Clone, Copy)]
pub(super) struct BytesOf32;

/// Blocks of Q4_0.
#[derive(Clone, Copy)]
pub(super) struct NibblesOf32;

/// The scale at the beginning of a block.
#[inline(always)]
unsafe fn scale<L: Lanes>(block: *const u8) -> L::F {
    // SAFETY: the caller has a block, which begins with a half.
    let bits = unsafe { block.cast::<u16>().read_unaligned() };
    L::low_half(L::splat_i(i32::from(u16::from_le(bits))))
}

impl Cached for BytesOf32 {
    #[inline(always)]
    unsafe fn load<L: Lanes>(row: *const u8, at: usize) -> L::F {
        // SAFETY: the caller has the block; no register crosses its end, since blocks are multiples of `WIDTH`.
        unsafe {
            let block = row.add(at / 32 * 34);
            L::mul(L::to_float(L::load_bytes(block.add(2 + at % 32).cast())), scale::<L>(block))
        }
    }
}

impl Cached for NibblesOf32 {
    #[inline(always)]
    unsafe fn load<L: Lanes>(row: *const u8, at: usize) -> L::F {
        // SAFETY: as above; low and high nibbles are 16 values each, multiples of `WIDTH`, too.
        unsafe {
            let block = row.add(at / 32 * 18);
            let pairs = L::load_bytes(block.add(2 + at % 16).cast());
            let levels = if at % 32 < 16 { pairs } else { L::shift_right(pairs, 4) };
            let levels = L::to_float(L::and(levels, L::splat_i(15)));
            L::mul(L::sub(levels, L::splat(8.0)), scale::<L>(block))
        }
    }
}

/// Plain elements of caches.
trait Plain: Cached + Element {
    /// Values in 32 bytes, at most 16.
    const GATHERED: usize;
    /// The values of the first 32 bytes of `WIDTH` rows, a register for each; as many as are gathered count.
    /// # Safety
    /// 32 bytes of each row must be readable.
    unsafe fn gather<L: Lanes>(rows: *const Self, stride: usize) -> [L::F; 16];
    fn to_float(self) -> f32;
}

impl Cached for f32 {
    #[inline(always)]
    unsafe fn load<L: Lanes>(row: *const u8, at: usize) -> L::F {
        // SAFETY: as the caller says.
        unsafe { <Self as Element>::load::<L>(row.cast::<Self>().add(at)) }
    }
}

impl Plain for f32 {
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
    #[inline(always)]
    unsafe fn load<L: Lanes>(row: *const u8, at: usize) -> L::F {
        // SAFETY: as the caller says.
        unsafe { <Self as Element>::load::<L>(row.cast::<Self>().add(at)) }
    }
}

impl Plain for f16 {
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

impl<E: Plain> Task for Transpose<'_, E> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Typed { stride, width, count, .. } = self.rows;
        let whole = count / L::WIDTH * L::WIDTH;
        for first in (0..whole).step_by(L::WIDTH) {
            for at in (0..width).step_by(E::GATHERED) {
                // SAFETY: `WIDTH` rows follow `first`, and 32 bytes of each `at`; `to` has `width` rows of `pitch`.
                unsafe {
                    let columns = E::gather::<L>(self.rows.at(first).cast::<E>().add(at), stride);
                    for i in 0..E::GATHERED {
                        L::store(self.to.as_mut_ptr().add((at + i) * self.pitch + first), columns[i]);
                    }
                }
            }
        }
        for cell in whole..count {
            for at in 0..width {
                // SAFETY: `at` is below the width of the row.
                self.to[at * self.pitch + cell] =
                    unsafe { self.rows.at(cell).cast::<E>().add(at).read() }.to_float();
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
                unsafe { L::store(to.add(at), E::load::<L>(from, at)) };
            }
        }
    }
}
