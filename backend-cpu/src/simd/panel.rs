//! Panels: blocks of several weight rows, unpacked and interleaved so that a register holds one place of all rows.

use std::marker::PhantomData;

use super::lanes::Lanes;
use super::rows::Rows;

/// 32 values of `WIDTH` rows. Lane `r` of `values[i]` holds the bytes `4i..4i + 4` of row `r`.
///
/// With one signed scale (`SIGNED`): weight = `first · value`. With two (`HALVES`): `first` is that of values 0..16 and
/// `second` that of 16..32. Unsigned: weight = `first · value + second`. Unsigned in halves: [`Line`]s made of the bits of
/// both. Signed values have [`Lanes::BIAS`] added.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct PanelBlock<L: Lanes> {
    pub values: [L::I; 8],
    pub first: L::F,
    pub second: L::F,
}

/// A block type whose values are small integers.
pub(crate) trait Format {
    /// Values have a sign; there is no minimum.
    const SIGNED: bool;
    /// Each 16 values have their own scale, and minimum where they are unsigned.
    const HALVES: bool;
    /// Values of a file block, 32 to 256.
    const VALUES: usize;
    /// Bytes of a file block.
    const BYTES: usize;
    /// Two to four columns are multiplied as blocks are unpacked, as one column always is. Types that take long to unpack
    /// do without: the code of each such number is long too.
    const EVERY_FEW: bool;

    /// Unpacks one file block of `WIDTH` rows and hands on `VALUES / 32` panel blocks in order.
    /// # Safety
    /// `BYTES` of each row must be readable.
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>);
}

/// Where unpacked blocks go.
pub(crate) trait Sink<L: Lanes> {
    /// Takes the next block. Must be `#[inline(always)]`, so that blocks stay in registers.
    fn take(&mut self, block: PanelBlock<L>);
}

/// Writes blocks to memory.
pub(crate) struct Store<L: Lanes>(*mut PanelBlock<L>);

impl<L: Lanes> Store<L> {
    /// # Safety
    /// As many blocks as are going to be taken must be writable.
    #[inline(always)]
    pub unsafe fn new(to: *mut PanelBlock<L>) -> Self {
        Store(to)
    }
}

impl<L: Lanes> Sink<L> for Store<L> {
    #[inline(always)]
    fn take(&mut self, block: PanelBlock<L>) {
        // SAFETY: whoever made this has room.
        unsafe { self.0.write(block) };
        self.0 = self.0.wrapping_add(1);
    }
}

/// Hands on blocks as floats.
struct Expand<'a, T, S>(&'a mut S, PhantomData<T>);

impl<L: Lanes, T: Format, S: FloatSink<L>> Sink<L> for Expand<'_, T, S> {
    #[inline(always)]
    fn take(&mut self, block: PanelBlock<L>) {
        expand::<L, T>(&block, self.0);
    }
}

/// A type whose blocks become floats.
pub(crate) trait FloatFormat {
    /// Values of a file block, or 32.
    const VALUES: usize;
    /// Bytes of as many values.
    const BYTES: usize;
    /// As [`Format::EVERY_FEW`].
    const EVERY_FEW: bool;

    /// Decodes `VALUES` values of `WIDTH` rows and hands them on in order.
    /// # Safety
    /// `BYTES` of each row must be readable.
    unsafe fn decode<L: Lanes>(rows: &mut Rows, to: &mut impl FloatSink<L>);
}

/// Where decoded values go. Methods must be `#[inline(always)]`, so that values stay in registers.
pub(crate) trait FloatSink<L: Lanes> {
    /// Takes the next value of each row.
    fn take(&mut self, value: L::F);
    /// Is told of the end of each 32 values.
    fn end(&mut self);
}

/// Writes floats to memory: lane `r` of register `i` is value `i` of row `r`.
pub(crate) struct StoreFloats<L: Lanes>(*mut L::F);

impl<L: Lanes> StoreFloats<L> {
    /// # Safety
    /// As many registers as are going to be taken must be writable.
    #[inline(always)]
    pub unsafe fn new(to: *mut L::F) -> Self {
        StoreFloats(to)
    }
}

impl<L: Lanes> FloatSink<L> for StoreFloats<L> {
    #[inline(always)]
    fn take(&mut self, value: L::F) {
        // SAFETY: whoever made this has room.
        unsafe { self.0.write(value) };
        self.0 = self.0.wrapping_add(1);
    }

    #[inline(always)]
    fn end(&mut self) {}
}

impl<T: Format> FloatFormat for T {
    const VALUES: usize = T::VALUES;
    const BYTES: usize = T::BYTES;
    const EVERY_FEW: bool = T::EVERY_FEW;

    #[inline(always)]
    unsafe fn decode<L: Lanes>(rows: &mut Rows, to: &mut impl FloatSink<L>) {
        // SAFETY: as the caller says.
        unsafe { T::unpack::<L>(rows, &mut Expand::<T, _>(to, PhantomData)) };
    }
}

/// Scale and minimum of sixteen unsigned values: weight = `scale · value − minimum · least`.
pub(crate) struct Line<L: Lanes> {
    pub scale: L::F,
    pub minimum: L::F,
    /// At most 15.
    pub least: L::I,
}

impl<L: Lanes> Line<L> {
    /// That of the low half of a block, or of the high one. `first` is an f16 scale and an f16 scale of minima; `second` has
    /// a byte for each half, the low nibble a scale and the high one a minimum.
    #[inline(always)]
    pub fn of(block: &PanelBlock<L>, half: u32) -> Self {
        let (pair, byte) = (L::as_bits(block.first), L::shift_right(L::as_bits(block.second), 8 * half));
        let nibble = L::splat_i(15);
        Line {
            scale: L::mul(L::low_half(pair), L::to_float(L::and(byte, nibble))),
            minimum: L::low_half(L::shift_right(pair, 16)),
            least: L::and(L::shift_right(byte, 4), nibble),
        }
    }
}

/// Hands on 32 values as floats.
#[inline(always)]
fn expand<L: Lanes, T: Format>(block: &PanelBlock<L>, to: &mut impl FloatSink<L>) {
    let bias = L::splat(-L::BIAS as f32);
    let lines = [0, 1].map(|half| {
        let line = Line::of(block, half);
        let minimum = L::mul(line.minimum, L::to_float(line.least));
        (line.scale, L::sub(L::splat(0.0), minimum))
    });
    for index in 0..8 {
        let four = block.values[index];
        let (scale, minimum) = match (T::SIGNED, T::HALVES) {
            (true, true) if index >= 4 => (block.second, L::mul(block.second, bias)),
            (true, _) => (block.first, L::mul(block.first, bias)),
            (false, false) => (block.first, block.second),
            (false, true) => lines[index / 4],
        };
        for byte in 0..4 {
            let value = if T::SIGNED && L::BIAS == 0 {
                L::shift_right_signed(L::shift_left(four, 24 - 8 * byte), 24)
            } else {
                L::and(L::shift_right(four, 8 * byte), L::splat_i(0xFF))
            };
            to.take(L::fma(L::to_float(value), scale, minimum));
        }
    }
    to.end();
}

/// The same byte four times.
pub(crate) const fn four_times(byte: i32) -> i32 {
    i32::from_le_bytes([byte as u8; 4])
}

/// Sixteen bytes of nibbles as two times four registers: the low nibbles, then the high ones.
#[inline(always)]
pub(crate) fn nibbles<L: Lanes>(packed: [L::I; 4]) -> [[L::I; 4]; 2] {
    let mask = L::splat_i(four_times(15));
    let mut result = [packed; 2];
    for i in 0..4 {
        result[0][i] = L::and(packed[i], mask);
        result[1][i] = L::and(L::shift_right(packed[i], 4), mask);
    }
    result
}

/// Takes `offset` off each byte and adds [`Lanes::BIAS`].
#[inline(always)]
pub(crate) fn signed<L: Lanes>(value: L::I, offset: i32) -> L::I {
    if L::BIAS == offset { value } else { L::add_bytes(value, L::splat_i(four_times(L::BIAS - offset))) }
}
