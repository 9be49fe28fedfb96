//! Block types of one or two bits with one scale: Q1_0, Q2_0, TQ1_0 and TQ2_0.

use super::lanes::Lanes;
use super::panel::{Format, PanelBlock, Sink, four_times, signed};
use super::rows::Rows;

/// f16 scale; 128 bits.
pub(crate) struct Q1_0;
/// f16 scale; 64 pairs of bits in order.
pub(crate) struct Q2_0;
/// 48 bytes of five digits to the base 3; 4 bytes of four; f16 scale.
pub(crate) struct Tq1_0;
/// 64 bytes of pairs of bits; f16 scale.
pub(crate) struct Tq2_0;

/// A block of levels that are too large by one.
#[inline(always)]
fn around_one<L: Lanes>(levels: [L::I; 8], scale: L::F) -> PanelBlock<L> {
    let mut values = levels;
    for i in 0..8 {
        values[i] = signed::<L>(levels[i], 1);
    }
    PanelBlock { values, first: scale, second: scale }
}

impl Format for Q1_0 {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 128;
    const BYTES: usize = 18;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 18 bytes here, as the caller says.
        unsafe {
            let scale = L::low_half(rows.four::<L>(0));
            for bits in rows.sixteen::<L>(2) {
                let mut levels = [bits; 8];
                for i in 0..8 {
                    let four = L::and(L::shift_right(bits, 4 * i as u32), L::splat_i(15));
                    // Bit j of four goes to bit 1 of byte j: twice the bit, of which one is taken off.
                    let spread = L::mul_i(four, L::splat_i(0x0040_8102));
                    levels[i] = L::and(spread, L::splat_i(four_times(2)));
                }
                to.take(around_one(levels, scale));
            }
        }
    }
}

impl Format for Q2_0 {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 64;
    const BYTES: usize = 18;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 18 bytes here, as the caller says.
        unsafe {
            let scale = L::low_half(rows.four::<L>(0));
            let packed = rows.sixteen::<L>(2);
            for half in 0..2 {
                let mut levels = [packed[0]; 8];
                for i in 0..8 {
                    let byte = L::shift_right(packed[2 * half + i / 4], 8 * (i % 4) as u32);
                    let byte = L::and(byte, L::splat_i(0xFF));
                    // Pairs of bits go to bytes: first two to each half, then one to each byte.
                    let two = L::and(L::or(byte, L::shift_left(byte, 12)), L::splat_i(0x000F_000F));
                    levels[i] = L::and(L::or(two, L::shift_left(two, 6)), L::splat_i(four_times(3)));
                }
                to.take(around_one(levels, scale));
            }
        }
    }
}

/// Digit `p` of the number to the base 3 in each byte.
#[inline(always)]
fn digit<L: Lanes>(bytes: L::I, p: u32) -> L::I {
    let low = L::splat_i(0x00FF_00FF);
    let (power, three) = (L::splat_i(3i32.pow(p)), L::splat_i(3));
    // Times 3^p modulo 256, times 3: what stands above eight bits. Every other byte, so that products have room.
    let [even, odd] = [bytes, L::shift_right(bytes, 8)].map(|bytes| {
        let rest = L::and(L::mul_i(L::and(bytes, low), power), low);
        L::and(L::shift_right(L::mul_i(rest, three), 8), low)
    });
    L::or(even, L::shift_left(odd, 8))
}

impl Format for Tq1_0 {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 256;
    const BYTES: usize = 54;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 54 bytes here, as the caller says.
        unsafe {
            // The scale is the last two bytes.
            let scale = L::low_half(L::shift_right(rows.four::<L>(50), 16));
            let bytes = rows.thirty_two::<L>(0);
            for p in 0..5 {
                let mut levels = [bytes[0][0]; 8];
                for i in 0..8 {
                    levels[i] = digit::<L>(bytes[i / 4][i % 4], p);
                }
                to.take(around_one(levels, scale));
            }
            // Five digits of sixteen bytes, then four of four bytes.
            let bytes = rows.sixteen::<L>(32);
            let last = rows.four::<L>(48);
            for block in 0..3 {
                let mut levels = [last; 8];
                for i in 0..8 {
                    let p = 2 * block + i as u32 / 4;
                    levels[i] =
                        if p < 5 { digit::<L>(bytes[i % 4], p) } else { digit::<L>(last, i as u32 % 4) };
                }
                to.take(around_one(levels, scale));
            }
        }
    }
}

impl Format for Tq2_0 {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 256;
    const BYTES: usize = 66;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 66 bytes here, as the caller says.
        unsafe {
            // The scale is the last two bytes.
            let scale = L::low_half(L::shift_right(rows.four::<L>(62), 16));
            for big in 0..2 {
                let packed = rows.thirty_two::<L>(32 * big);
                for p in 0..4 {
                    to.take(around_one(pairs::<L>(packed, p), scale));
                }
            }
        }
    }
}

/// Bits `2p` and `2p + 1` of 32 bytes.
#[inline(always)]
pub(super) fn pairs<L: Lanes>(packed: [[L::I; 4]; 2], p: u32) -> [L::I; 8] {
    let mut levels = [packed[0][0]; 8];
    for i in 0..8 {
        levels[i] = L::and(L::shift_right(packed[i / 4][i % 4], 2 * p), L::splat_i(four_times(3)));
    }
    levels
}
