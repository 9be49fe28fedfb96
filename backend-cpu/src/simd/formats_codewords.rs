//! Block types of 256 values whose levels come from codebooks with signs: IQ2 and IQ3.

use super::codewords::{IQ2_S, IQ2_XS, IQ2_XXS, IQ3_S, IQ3_XXS, even_signs, with_signs, word};
use super::lanes::Lanes;
use super::panel::{Format, PanelBlock, Sink, signed};
use super::rows::Rows;

/// f16 scale; a group of 32 has four numbers, then 28 signs and a scale.
pub(crate) struct Iq2Xxs;
/// f16 scale; 32 numbers of nine bits with seven signs each; 8 bytes of scales.
pub(crate) struct Iq2Xs;
/// f16 scale; 32 numbers; 32 bytes of signs; 8 bytes of high bits; 8 bytes of scales.
pub(crate) struct Iq2S;
/// f16 scale; 64 numbers; a group of 32 has 28 signs and a scale.
pub(crate) struct Iq3Xxs;
/// f16 scale; 64 numbers; 8 bytes of high bits; 32 bytes of signs; 4 bytes of scales.
pub(crate) struct Iq3S;

/// Byte or other field of a register.
#[inline(always)]
pub(super) fn field<L: Lanes>(lanes: L::I, shift: usize, mask: i32) -> L::I {
    L::and(L::shift_right(lanes, shift as u32), L::splat_i(mask))
}

/// `scale · (2n + 1)` for the number `n` at a place of a register.
#[inline(always)]
pub(super) fn odd<L: Lanes>(scale: L::F, lanes: L::I, shift: usize, mask: i32) -> L::F {
    let twice = L::shift_left(field::<L>(lanes, shift, mask), 1);
    L::mul(scale, L::to_float(L::add_i(twice, L::splat_i(1))))
}

/// Four codewords of eight levels. `number` and `signs` give what belongs to each.
#[inline(always)]
fn eights<L: Lanes, const BITS: u32>(
    table: &'static [u32],
    number: impl Fn(usize) -> L::I,
    signs: impl Fn(usize) -> L::I,
) -> [L::I; 8] {
    let mut values = [L::splat_i(0); 8];
    for k in 0..4 {
        let (number, signs) = (number(k), signs(k));
        for part in 0..2 {
            let levels = word::<L, BITS, 2>(table, number, part);
            let levels = with_signs::<L>(levels, L::shift_right(signs, 4 * part as u32));
            values[2 * k + part] = signed::<L>(levels, 0);
        }
    }
    values
}

/// Eight codewords of four levels; `signs` of two of them each.
#[inline(always)]
fn fours<L: Lanes, const BITS: u32>(
    table: &'static [u32],
    number: impl Fn(usize) -> L::I,
    signs: impl Fn(usize) -> L::I,
) -> [L::I; 8] {
    let mut values = [L::splat_i(0); 8];
    for k in 0..4 {
        let signs = signs(k);
        for part in 0..2 {
            let levels = word::<L, BITS, 1>(table, number(2 * k + part), 0);
            let levels = with_signs::<L>(levels, L::shift_right(signs, 4 * part as u32));
            values[2 * k + part] = signed::<L>(levels, 0);
        }
    }
    values
}

/// The f16 at the start of a block, times a power of two.
///
/// # Safety
/// Four bytes of each row must be readable.
#[inline(always)]
pub(super) unsafe fn scale<L: Lanes>(rows: &mut Rows, times: f32) -> L::F {
    // SAFETY: as the caller says.
    L::mul(L::low_half(unsafe { rows.four::<L>(0) }), L::splat(times))
}

impl Format for Iq2Xxs {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 256;
    const BYTES: usize = 66;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 66 bytes here, as the caller says.
        unsafe {
            let scale = scale::<L>(rows, 0.125);
            for pair in 0..4 {
                let packed = rows.sixteen::<L>(2 + 16 * pair);
                for half in 0..2 {
                    let (numbers, rest) = (packed[2 * half], packed[2 * half + 1]);
                    let values = eights::<L, 8>(
                        &IQ2_XXS,
                        |k| L::shift_right(numbers, 8 * k as u32),
                        |k| even_signs::<L>(rest, k as u32),
                    );
                    let step = odd::<L>(scale, rest, 28, 15);
                    to.take(PanelBlock { values, first: step, second: step });
                }
            }
        }
    }
}

impl Format for Iq2Xs {
    const SIGNED: bool = true;
    const HALVES: bool = true;
    const VALUES: usize = 256;
    const BYTES: usize = 74;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 74 bytes here, as the caller says.
        unsafe {
            let scale = scale::<L>(rows, 0.125);
            let scales = [rows.four::<L>(66), rows.four::<L>(70)];
            for pair in 0..4 {
                let packed = rows.sixteen::<L>(2 + 16 * pair);
                for half in 0..2 {
                    let block = 2 * pair + half;
                    let both = |k: usize| field::<L>(packed[2 * half + k / 2], 16 * (k % 2), 0xFFFF);
                    let signs = |k: usize| even_signs::<L>(L::shift_right(both(k), 9), 0);
                    let (own, at) = (scales[block / 4], 8 * (block % 4));
                    to.take(PanelBlock {
                        values: eights::<L, 9>(&IQ2_XS, both, signs),
                        first: odd::<L>(scale, own, at, 15),
                        second: odd::<L>(scale, own, at + 4, 15),
                    });
                }
            }
        }
    }
}

impl Format for Iq2S {
    const SIGNED: bool = true;
    const HALVES: bool = true;
    const VALUES: usize = 256;
    const BYTES: usize = 82;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 82 bytes here, as the caller says.
        unsafe {
            let scale = scale::<L>(rows, 0.125);
            let (numbers, signs) = (rows.thirty_two::<L>(2), rows.thirty_two::<L>(34));
            let high = [rows.four::<L>(66), rows.four::<L>(70)];
            let scales = [rows.four::<L>(74), rows.four::<L>(78)];
            for block in 0..8 {
                let (low, signs) = (numbers[block / 4][block % 4], signs[block / 4][block % 4]);
                let at = 8 * (block % 4);
                let number = |k: usize| {
                    let two = field::<L>(high[block / 4], at + 2 * k, 3);
                    L::or(field::<L>(low, 8 * k, 0xFF), L::shift_left(two, 8))
                };
                to.take(PanelBlock {
                    values: eights::<L, 10>(&IQ2_S, number, |k| L::shift_right(signs, 8 * k as u32)),
                    first: odd::<L>(scale, scales[block / 4], at, 15),
                    second: odd::<L>(scale, scales[block / 4], at + 4, 15),
                });
            }
        }
    }
}

impl Format for Iq3Xxs {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 256;
    const BYTES: usize = 98;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 98 bytes here, as the caller says.
        unsafe {
            let scale = scale::<L>(rows, 0.25);
            let rests = rows.thirty_two::<L>(66);
            for pair in 0..4 {
                let packed = rows.sixteen::<L>(2 + 16 * pair);
                for half in 0..2 {
                    let block = 2 * pair + half;
                    let rest = rests[block / 4][block % 4];
                    let number = |k: usize| L::shift_right(packed[2 * half + k / 4], 8 * (k % 4) as u32);
                    let values = fours::<L, 8>(&IQ3_XXS, number, |k| even_signs::<L>(rest, k as u32));
                    let step = odd::<L>(scale, rest, 28, 15);
                    to.take(PanelBlock { values, first: step, second: step });
                }
            }
        }
    }
}

impl Format for Iq3S {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 256;
    const BYTES: usize = 110;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 110 bytes here, as the caller says.
        unsafe {
            let scale = scale::<L>(rows, 1.0);
            let signs = rows.thirty_two::<L>(74);
            let high = [rows.four::<L>(66), rows.four::<L>(70)];
            let scales = rows.four::<L>(106);
            for pair in 0..4 {
                let packed = rows.sixteen::<L>(2 + 16 * pair);
                for half in 0..2 {
                    let block = 2 * pair + half;
                    let signs = signs[block / 4][block % 4];
                    let number = |k: usize| {
                        let bit = field::<L>(high[block / 4], 8 * (block % 4) + k, 1);
                        let low = field::<L>(packed[2 * half + k / 4], 8 * (k % 4), 0xFF);
                        L::or(low, L::shift_left(bit, 8))
                    };
                    let values = fours::<L, 9>(&IQ3_S, number, |k| L::shift_right(signs, 8 * k as u32));
                    let step = odd::<L>(scale, scales, 4 * block, 15);
                    to.take(PanelBlock { values, first: step, second: step });
                }
            }
        }
    }
}
