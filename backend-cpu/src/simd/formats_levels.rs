//! Block types whose four bits are numbers of sixteen levels: IQ4_NL, IQ4_XS, MXFP4 and NVFP4.

use weft_core::quant::levels;

use super::lanes::Lanes;
use super::panel::{Format, PanelBlock, Sink, nibbles, signed};
use super::rows::Rows;

/// f16 scale; 16 bytes of nibbles.
pub(crate) struct Iq4Nl;
/// f16 scale; 16 high bits of scales; 4 bytes of scales; 128 bytes of nibbles.
pub(crate) struct Iq4Xs;
/// Exponent; 16 bytes of nibbles.
pub(crate) struct Mxfp4;
/// Four scales; 32 bytes of nibbles, eight for sixteen values.
pub(crate) struct Nvfp4;

/// The levels of 32 numbers, ready for products.
#[inline(always)]
fn looked_up<L: Lanes>(levels: &[i8; 16], numbers: [L::I; 8]) -> [L::I; 8] {
    let mut values = numbers;
    for i in 0..8 {
        values[i] = signed::<L>(L::lookup(levels, numbers[i]), 0);
    }
    values
}

/// The levels of 32 nibbles, first the low ones of sixteen bytes.
#[inline(always)]
fn levels_of<L: Lanes>(levels: &[i8; 16], packed: [L::I; 4]) -> [L::I; 8] {
    let [[a, b, c, d], [e, f, g, h]] = nibbles::<L>(packed);
    looked_up::<L>(levels, [a, b, c, d, e, f, g, h])
}

impl Format for Iq4Nl {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 32;
    const BYTES: usize = 18;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 18 bytes here, as the caller says.
        unsafe {
            let scale = L::low_half(rows.four::<L>(0));
            let values = levels_of::<L>(&levels::IQ4, rows.sixteen::<L>(2));
            to.take(PanelBlock { values, first: scale, second: scale });
        }
    }
}

impl Format for Iq4Xs {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 256;
    const BYTES: usize = 136;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 136 bytes here, as the caller says.
        unsafe {
            let (head, low) = (rows.four::<L>(0), rows.four::<L>(4));
            let scale = L::low_half(head);
            for pair in 0..4 {
                let packed = rows.thirty_two::<L>(8 + 32 * pair);
                for half in 0..2 {
                    let group = (2 * pair + half) as u32;
                    let four = L::and(L::shift_right(low, 4 * group), L::splat_i(15));
                    let two = L::and(L::shift_right(head, 16 + 2 * group), L::splat_i(3));
                    let six = L::or(four, L::shift_left(two, 4));
                    let step = L::mul(scale, L::to_float(L::add_i(six, L::splat_i(-32))));
                    let values = levels_of::<L>(&levels::IQ4, packed[half]);
                    to.take(PanelBlock { values, first: step, second: step });
                }
            }
        }
    }
}

impl Format for Mxfp4 {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 32;
    const BYTES: usize = 17;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 17 bytes here, as the caller says.
        unsafe {
            let exponent = L::and(rows.four::<L>(0), L::splat_i(0xFF));
            // Exponents 0 and 1 are subnormal; from 2 on the second number is the larger.
            let small = L::shift_left(L::add_i(exponent, L::splat_i(1)), 21);
            let usual = L::shift_left(L::add_i(exponent, L::splat_i(-1)), 23);
            let scale = L::as_float(L::max_i(small, usual));
            let values = levels_of::<L>(&levels::FP4, rows.sixteen::<L>(1));
            to.take(PanelBlock { values, first: scale, second: scale });
        }
    }
}

/// Half of the scale in byte `index` of each lane: a float of four bits of exponent and three of mantissa.
#[inline(always)]
fn half_scale<L: Lanes>(scales: L::I, index: u32) -> L::F {
    let code = L::and(L::shift_right(scales, 8 * index), L::splat_i(0x7F));
    // As upper bits of a float the code is too small by 2^119, subnormal numbers included.
    let value = L::mul(L::as_float(L::shift_left(code, 20)), L::splat(f32::from_bits((119 + 127) << 23)));
    // The largest code, which is no number, counts as zero.
    L::select_greater(value, L::splat(232.0), L::splat(0.0), value)
}

impl Format for Nvfp4 {
    const SIGNED: bool = true;
    const HALVES: bool = true;
    const VALUES: usize = 64;
    const BYTES: usize = 36;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 36 bytes here, as the caller says.
        unsafe {
            let scales = rows.four::<L>(0);
            let packed = rows.thirty_two::<L>(4);
            for half in 0..2 {
                let [[a, b, c, d], [e, f, g, h]] = nibbles::<L>(packed[half]);
                to.take(PanelBlock {
                    values: looked_up::<L>(&levels::FP4, [a, b, e, f, c, d, g, h]),
                    first: half_scale::<L>(scales, 2 * half as u32),
                    second: half_scale::<L>(scales, 2 * half as u32 + 1),
                });
            }
        }
    }
}
