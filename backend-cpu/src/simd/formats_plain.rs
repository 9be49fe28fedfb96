//! Weights that are plain floats, 32 at a time.

use super::lanes::Lanes;
use super::panel::{FloatFormat, FloatSink};
use super::rows::Rows;

pub(crate) struct F32;
pub(crate) struct F16;
pub(crate) struct Bf16;

impl FloatFormat for F32 {
    const VALUES: usize = 32;
    const BYTES: usize = 128;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn decode<L: Lanes>(rows: &mut Rows, to: &mut impl FloatSink<L>) {
        for part in 0..4 {
            // SAFETY: each row has 128 bytes here, as the caller says.
            unsafe {
                let fours = rows.thirty_two::<L>(32 * part);
                for i in 0..8 {
                    to.take(L::as_float(fours[i / 4][i % 4]));
                }
            }
        }
        to.end();
    }
}

impl FloatFormat for F16 {
    const VALUES: usize = 32;
    const BYTES: usize = 64;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn decode<L: Lanes>(rows: &mut Rows, to: &mut impl FloatSink<L>) {
        for part in 0..2 {
            // SAFETY: each row has 64 bytes here, as the caller says.
            unsafe {
                let pairs = rows.thirty_two::<L>(32 * part);
                for i in 0..8 {
                    let pair = pairs[i / 4][i % 4];
                    to.take(L::low_half(pair));
                    to.take(L::low_half(L::shift_right(pair, 16)));
                }
            }
        }
        to.end();
    }
}

impl FloatFormat for Bf16 {
    const VALUES: usize = 32;
    const BYTES: usize = 64;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn decode<L: Lanes>(rows: &mut Rows, to: &mut impl FloatSink<L>) {
        let high = L::splat_i(0xFFFF_0000_u32 as i32);
        for part in 0..2 {
            // SAFETY: each row has 64 bytes here, as the caller says.
            unsafe {
                let pairs = rows.thirty_two::<L>(32 * part);
                for i in 0..8 {
                    let pair = pairs[i / 4][i % 4];
                    to.take(L::as_float(L::shift_left(pair, 16)));
                    to.take(L::as_float(L::and(pair, high)));
                }
            }
        }
        to.end();
    }
}
