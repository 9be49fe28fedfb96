//! Block types of 256 values: Q4_K, Q5_K and Q6_K.

use super::lanes::Lanes;
use super::panel::{Format, PanelBlock, Sink, four_times, nibbles, signed};
use super::rows::Rows;

/// f16 scale, f16 scale of minima; 12 bytes of 6-bit scales and minima; 128 bytes of nibbles.
pub(crate) struct Q4K;
/// As Q4_K, with 32 bytes of fifth bits before the nibbles.
pub(crate) struct Q5K;
/// 128 bytes of nibbles; 64 bytes of two high bits; 16 signed scales; f16 scale.
pub(crate) struct Q6K;

/// Byte `index` of each lane as a float.
#[inline(always)]
fn byte<L: Lanes>(lanes: L::I, index: usize) -> L::F {
    L::to_float(L::and(L::shift_right(lanes, 8 * index as u32), L::splat_i(0xFF)))
}

/// Shifts to the right if `bits` is negative.
#[inline(always)]
fn shift_left<L: Lanes>(lanes: L::I, bits: i32) -> L::I {
    if bits < 0 { L::shift_right(lanes, bits.unsigned_abs()) } else { L::shift_left(lanes, bits as u32) }
}

/// The eight scales and minima in the first 16 bytes of a Q4_K or Q5_K block, as bytes of registers.
struct Scales<L: Lanes> {
    scale: L::F,
    /// Negative.
    minimum: L::F,
    scales: [L::I; 2],
    minima: [L::I; 2],
}

impl<L: Lanes> Scales<L> {
    /// # Safety
    /// Sixteen bytes of each row must be readable.
    #[inline(always)]
    unsafe fn read(rows: &mut Rows) -> Self {
        // SAFETY: as the caller says.
        let [pair, a, b, c] = unsafe { rows.sixteen::<L>(0) };
        let six = L::splat_i(four_times(0x3F));
        let low = L::splat_i(four_times(0x0F));
        let top = L::splat_i(four_times(0x30));
        Scales {
            scale: L::low_half(pair),
            minimum: L::sub(L::splat(0.0), L::low_half(L::shift_right(pair, 16))),
            scales: [L::and(a, six), L::or(L::and(c, low), L::and(L::shift_right(a, 2), top))],
            minima: [
                L::and(b, six),
                L::or(L::and(L::shift_right(c, 4), low), L::and(L::shift_right(b, 2), top)),
            ],
        }
    }

    /// Block `index` of 32 values, given its integers.
    #[inline(always)]
    fn block(&self, index: usize, values: [L::I; 8]) -> PanelBlock<L> {
        PanelBlock {
            values,
            first: L::mul(self.scale, byte::<L>(self.scales[index / 4], index % 4)),
            second: L::mul(self.minimum, byte::<L>(self.minima[index / 4], index % 4)),
        }
    }
}

/// The low nibbles of 32 bytes, then the high ones.
#[inline(always)]
fn nibbles_of<L: Lanes>(packed: [[L::I; 4]; 2]) -> [[L::I; 8]; 2] {
    let ([[a, b, c, d], h], [[e, f, g, i], l]) = (nibbles::<L>(packed[0]), nibbles::<L>(packed[1]));
    [[a, b, c, d, e, f, g, i], [h[0], h[1], h[2], h[3], l[0], l[1], l[2], l[3]]]
}

impl Format for Q4K {
    const SIGNED: bool = false;
    const HALVES: bool = false;
    const VALUES: usize = 256;
    const BYTES: usize = 144;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 144 bytes here, as the caller says.
        unsafe {
            let scales = Scales::<L>::read(rows);
            for pair in 0..4 {
                let [low, high] = nibbles_of::<L>(rows.thirty_two::<L>(16 + 32 * pair));
                to.take(scales.block(2 * pair, low));
                to.take(scales.block(2 * pair + 1, high));
            }
        }
    }
}

impl Format for Q5K {
    const SIGNED: bool = false;
    const HALVES: bool = false;
    const VALUES: usize = 256;
    const BYTES: usize = 176;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 176 bytes here, as the caller says.
        unsafe {
            let scales = Scales::<L>::read(rows);
            let bits = rows.thirty_two::<L>(16);
            for pair in 0..4 {
                // Bit 2·pair belongs to the low nibble, the next one to the high nibble.
                let [low, high] = nibbles_of::<L>(rows.thirty_two::<L>(48 + 32 * pair));
                let shift = 2 * pair as i32;
                let low = with_bits::<L>(low, bits, 4 - shift, 0x10);
                let high = with_bits::<L>(high, bits, 3 - shift, 0x10);
                to.take(scales.block(2 * pair, low));
                to.take(scales.block(2 * pair + 1, high));
            }
        }
    }
}

/// Puts the bits that are in `mask` after a shift to the left into each byte.
#[inline(always)]
fn with_bits<L: Lanes>(values: [L::I; 8], bits: [[L::I; 4]; 2], shift: i32, mask: i32) -> [L::I; 8] {
    let mut result = values;
    for i in 0..8 {
        let placed = L::and(shift_left::<L>(bits[i / 4][i % 4], shift), L::splat_i(four_times(mask)));
        result[i] = L::or(result[i], placed);
    }
    result
}

impl Format for Q6K {
    const SIGNED: bool = true;
    const HALVES: bool = true;
    const VALUES: usize = 256;
    const BYTES: usize = 210;
    const EVERY_FEW: bool = true;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 210 bytes here, as the caller says.
        unsafe {
            // The scale is the last two bytes.
            let scale = L::low_half(L::shift_right(rows.four::<L>(206), 16));
            let scales = rows.sixteen::<L>(192);
            for big in 0..2 {
                let bits = rows.thirty_two::<L>(128 + 32 * big);
                let first = nibbles_of::<L>(rows.thirty_two::<L>(64 * big));
                let second = nibbles_of::<L>(rows.thirty_two::<L>(64 * big + 32));
                let parts = [first[0], second[0], first[1], second[1]];
                for index in 0..4 {
                    let mut values = with_bits::<L>(parts[index], bits, 4 - 2 * index as i32, 0x30);
                    for i in 0..8 {
                        values[i] = signed::<L>(values[i], 32);
                    }
                    let pair = scales[2 * big + index / 2];
                    to.take(PanelBlock {
                        values,
                        first: L::mul(scale, signed_byte::<L>(pair, 2 * (index % 2))),
                        second: L::mul(scale, signed_byte::<L>(pair, 2 * (index % 2) + 1)),
                    });
                }
            }
        }
    }
}

/// Byte `index` of each lane, with its sign, as a float.
#[inline(always)]
fn signed_byte<L: Lanes>(lanes: L::I, index: usize) -> L::F {
    L::to_float(L::shift_right_signed(L::shift_left(lanes, 24 - 8 * index as u32), 24))
}
