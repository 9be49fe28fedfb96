//! Weights that are plain floats, 32 at a time.

use super::lanes::Lanes;
use super::panel::FloatFormat;
use super::rows::Rows;

pub(crate) struct F32;
pub(crate) struct F16;
pub(crate) struct Bf16;

impl FloatFormat for F32 {
    const VALUES: usize = 32;
    const BYTES: usize = 128;

    #[inline(always)]
    unsafe fn decode<L: Lanes>(rows: &mut Rows, to: *mut L::F) {
        for part in 0..4 {
            // SAFETY: each row has 128 bytes here and 32 registers are writable, as the caller says.
            unsafe {
                let fours = rows.thirty_two::<L>(32 * part);
                for i in 0..8 {
                    to.add(8 * part + i).write(L::as_float(fours[i / 4][i % 4]));
                }
            }
        }
    }
}

impl FloatFormat for F16 {
    const VALUES: usize = 32;
    const BYTES: usize = 64;

    #[inline(always)]
    unsafe fn decode<L: Lanes>(rows: &mut Rows, to: *mut L::F) {
        for part in 0..2 {
            // SAFETY: each row has 64 bytes here and 32 registers are writable, as the caller says.
            unsafe {
                let pairs = rows.thirty_two::<L>(32 * part);
                for i in 0..8 {
                    let pair = pairs[i / 4][i % 4];
                    to.add(16 * part + 2 * i).write(L::low_half(pair));
                    to.add(16 * part + 2 * i + 1).write(L::low_half(L::shift_right(pair, 16)));
                }
            }
        }
    }
}

impl FloatFormat for Bf16 {
    const VALUES: usize = 32;
    const BYTES: usize = 64;

    #[inline(always)]
    unsafe fn decode<L: Lanes>(rows: &mut Rows, to: *mut L::F) {
        let high = L::splat_i(0xFFFF_0000_u32 as i32);
        for part in 0..2 {
            // SAFETY: each row has 64 bytes here and 32 registers are writable, as the caller says.
            unsafe {
                let pairs = rows.thirty_two::<L>(32 * part);
                for i in 0..8 {
                    let pair = pairs[i / 4][i % 4];
                    to.add(16 * part + 2 * i).write(L::as_float(L::shift_left(pair, 16)));
                    to.add(16 * part + 2 * i + 1).write(L::as_float(L::and(pair, high)));
                }
            }
        }
    }
}
