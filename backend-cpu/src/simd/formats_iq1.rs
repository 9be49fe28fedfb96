//! Block types of 256 values whose levels are codewords of −1, 0 and 1, shifted by an eighth: IQ1_S and IQ1_M.

use super::codewords::{IQ1, word};
use super::formats_codewords::{field, odd, scale};
use super::lanes::Lanes;
use super::panel::{Format, PanelBlock, Sink, four_times, signed};
use super::rows::Rows;

/// f16 scale; 32 numbers; a group of 32 has 16 bits of high bits, scale and shift.
pub(crate) struct Iq1S;
/// 32 numbers; 16 bytes of high bits and shifts; 8 bytes of scales, of which one is in sixteen bits of them.
pub(crate) struct Iq1M;

/// Eight times the levels of a codeword, plus one, or minus one where `down` is 1.
#[inline(always)]
fn eight<L: Lanes>(number: L::I, down: L::I) -> [L::I; 2] {
    // 1 or −1 in each byte.
    let shift = L::add_bytes(L::mul_i(down, L::splat_i(four_times(0xFE))), L::splat_i(four_times(1)));
    [0, 1].map(|part| signed::<L>(L::add_bytes(word::<L, 11, 2>(&IQ1, number, part), shift), 0))
}

impl Format for Iq1S {
    const SIGNED: bool = true;
    const HALVES: bool = false;
    const VALUES: usize = 256;
    const BYTES: usize = 50;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 50 bytes here, as the caller says.
        unsafe {
            let scale = scale::<L>(rows, 0.125);
            let (numbers, rests) = (rows.thirty_two::<L>(2), rows.sixteen::<L>(34));
            for block in 0..8 {
                let low = numbers[block / 4][block % 4];
                let rest = field::<L>(rests[block / 2], 16 * (block % 2), 0xFFFF);
                let mut values = [low; 8];
                for k in 0..4 {
                    let high = L::shift_left(field::<L>(rest, 3 * k, 7), 8);
                    let number = L::or(field::<L>(low, 8 * k, 0xFF), high);
                    [values[2 * k], values[2 * k + 1]] = eight::<L>(number, L::shift_right(rest, 15));
                }
                let step = odd::<L>(scale, rest, 12, 7);
                to.take(PanelBlock { values, first: step, second: step });
            }
        }
    }
}

impl Format for Iq1M {
    const SIGNED: bool = true;
    const HALVES: bool = true;
    const VALUES: usize = 256;
    const BYTES: usize = 56;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 56 bytes here, as the caller says.
        unsafe {
            let scales = [rows.four::<L>(48), rows.four::<L>(52)];
            let four =
                |i: usize| L::shift_left(field::<L>(scales[i / 2], 16 * (i % 2) + 12, 15), 4 * i as u32);
            let bits = L::or(L::or(four(0), four(1)), L::or(four(2), four(3)));
            let scale = L::mul(L::low_half(bits), L::splat(0.125));
            let (numbers, rests) = (rows.thirty_two::<L>(0), rows.sixteen::<L>(32));
            for block in 0..8 {
                let low = numbers[block / 4][block % 4];
                let mut values = [low; 8];
                for k in 0..4 {
                    let nibble = field::<L>(rests[block / 2], 16 * (block % 2) + 4 * k, 15);
                    let high = L::shift_left(L::and(nibble, L::splat_i(7)), 8);
                    let number = L::or(field::<L>(low, 8 * k, 0xFF), high);
                    [values[2 * k], values[2 * k + 1]] = eight::<L>(number, L::shift_right(nibble, 3));
                }
                let at = 16 * (block / 2 % 2) + 6 * (block % 2);
                to.take(PanelBlock {
                    values,
                    first: odd::<L>(scale, scales[block / 4], at, 7),
                    second: odd::<L>(scale, scales[block / 4], at + 3, 7),
                });
            }
        }
    }
}
