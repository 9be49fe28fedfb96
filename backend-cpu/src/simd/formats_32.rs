//! Block types of 32 values: Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0.

use super::lanes::Lanes;
use super::panel::{Format, PanelBlock, Sink, four_times, nibbles, signed};
use super::rows::Rows;

/// f16 scale; 16 bytes of nibbles.
pub(crate) struct Q4_0;
/// f16 scale, f16 minimum; 16 bytes of nibbles.
pub(crate) struct Q4_1;
/// f16 scale; 32 high bits; 16 bytes of nibbles.
pub(crate) struct Q5_0;
/// f16 scale, f16 minimum; 32 high bits; 16 bytes of nibbles.
pub(crate) struct Q5_1;
/// f16 scale; 32 bytes.
pub(crate) struct Q8_0;

#[inline(always)]
fn signed_block<L: Lanes>(values: [[L::I; 4]; 2], offset: i32, scale: L::F) -> PanelBlock<L> {
    let [[a, b, c, d], [e, f, g, h]] = values;
    let mut values = [a, b, c, d, e, f, g, h];
    for index in 0..8 {
        values[index] = signed::<L>(values[index], offset);
    }
    PanelBlock { values, first: scale, second: scale }
}

#[inline(always)]
fn unsigned_block<L: Lanes>(values: [[L::I; 4]; 2], scale_and_minimum: L::I) -> PanelBlock<L> {
    let [[a, b, c, d], [e, f, g, h]] = values;
    PanelBlock {
        values: [a, b, c, d, e, f, g, h],
        first: L::low_half(scale_and_minimum),
        second: L::low_half(L::shift_right(scale_and_minimum, 16)),
    }
}

/// Adds 16 to value `j` if bit `j` of its row's `bits` is set.
#[inline(always)]
fn with_fifth_bits<L: Lanes>(values: [[L::I; 4]; 2], bits: L::I) -> [[L::I; 4]; 2] {
    let mut result = values;
    for index in 0..8 {
        let value = &mut result[index / 4][index % 4];
        let four = L::and(L::shift_right(bits, 4 * index as u32), L::splat_i(15));
        // Bit j of four goes to bit 4 of byte j.
        let spread = L::mul_i(four, L::splat_i(0x0204_0810));
        *value = L::or(*value, L::and(spread, L::splat_i(four_times(16))));
    }
    result
}

impl Format for Q4_0 {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 32;
    const BYTES: usize = 18;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 18 bytes here, as the caller says.
        unsafe {
            let scale = L::low_half(rows.four::<L>(0));
            let values = nibbles::<L>(rows.sixteen::<L>(2));
            to.take(signed_block(values, 8, scale));
        }
    }
}

impl Format for Q4_1 {
    const SIGNED: bool = false;
    const HALVES: bool = false;
    const VALUES: usize = 32;
    const BYTES: usize = 20;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 20 bytes here, as the caller says.
        unsafe {
            let values = nibbles::<L>(rows.sixteen::<L>(4));
            to.take(unsigned_block(values, rows.four::<L>(0)));
        }
    }
}

impl Format for Q5_0 {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 32;
    const BYTES: usize = 22;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 22 bytes here, as the caller says.
        unsafe {
            let scale = L::low_half(rows.four::<L>(0));
            let values = nibbles::<L>(rows.sixteen::<L>(6));
            let values = with_fifth_bits::<L>(values, rows.four::<L>(2));
            to.take(signed_block(values, 16, scale));
        }
    }
}

impl Format for Q5_1 {
    const SIGNED: bool = false;
    const HALVES: bool = false;
    const VALUES: usize = 32;
    const BYTES: usize = 24;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 24 bytes here, as the caller says.
        unsafe {
            let values = nibbles::<L>(rows.sixteen::<L>(8));
            let values = with_fifth_bits::<L>(values, rows.four::<L>(4));
            to.take(unsigned_block(values, rows.four::<L>(0)));
        }
    }
}

impl Format for Q8_0 {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 32;
    const BYTES: usize = 34;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 34 bytes here, as the caller says.
        unsafe {
            let scale = L::low_half(rows.four::<L>(0));
            to.take(signed_block(rows.thirty_two::<L>(2), 0, scale));
        }
    }
}
