//! Block types of 256 values in groups of 16 with two or three bits: Q2_K and Q3_K.

use super::formats_few_bits::pairs;
use super::lanes::Lanes;
use super::panel::{Format, PanelBlock, Sink, four_times, signed};
use super::rows::Rows;

/// 16 scales and minima in nibbles; 64 bytes of pairs of bits; f16 scale, f16 scale of minima.
pub(crate) struct Q2K;
/// 32 bytes of third bits; 64 bytes of pairs of bits; 12 bytes of 6-bit scales; f16 scale.
pub(crate) struct Q3K;

impl Format for Q2K {
    const SIGNED: bool = false;
    const HALVES: bool = true;
    const VALUES: usize = 256;
    const BYTES: usize = 84;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 84 bytes here, as the caller says.
        unsafe {
            let first = L::as_float(rows.four::<L>(80));
            let scales = rows.sixteen::<L>(0);
            for big in 0..2 {
                let packed = rows.thirty_two::<L>(16 + 32 * big);
                for p in 0..4 {
                    let two = L::shift_right(scales[2 * big + p / 2], 16 * (p % 2) as u32);
                    to.take(PanelBlock {
                        values: pairs::<L>(packed, p as u32),
                        first,
                        second: L::as_float(L::and(two, L::splat_i(0xFFFF))),
                    });
                }
            }
        }
    }
}

/// The sixteen scales of Q3_K as bytes, 32 too large.
#[inline(always)]
fn scales<L: Lanes>(packed: [L::I; 3]) -> [L::I; 4] {
    let mut result = [packed[0]; 4];
    for i in 0..4 {
        let low = L::and(L::shift_right(packed[i % 2], 4 * (i / 2) as u32), L::splat_i(four_times(15)));
        let high = L::and(L::shift_right(packed[2], 2 * i as u32), L::splat_i(four_times(3)));
        result[i] = L::or(low, L::shift_left(high, 4));
    }
    result
}

impl Format for Q3K {
    const SIGNED: bool = true;
    const HALVES: bool = true;
    const VALUES: usize = 256;
    const BYTES: usize = 110;
    const EVERY_FEW: bool = false;

    #[inline(always)]
    unsafe fn unpack<L: Lanes>(rows: &mut Rows, to: &mut impl Sink<L>) {
        // SAFETY: each row has 110 bytes here, as the caller says.
        unsafe {
            // The scale is the last two bytes.
            let scale = L::low_half(L::shift_right(rows.four::<L>(106), 16));
            let scales = scales::<L>([rows.four::<L>(96), rows.four::<L>(100), rows.four::<L>(104)]);
            let bits = rows.thirty_two::<L>(0);
            for big in 0..2 {
                let packed = rows.thirty_two::<L>(32 + 32 * big);
                for p in 0..4 {
                    let block = 4 * big + p;
                    let mut values = pairs::<L>(packed, p as u32);
                    for i in 0..8 {
                        let bit = L::shift_right(bits[i / 4][i % 4], block as u32);
                        let bit = L::shift_left(L::and(bit, L::splat_i(four_times(1))), 2);
                        values[i] = signed::<L>(L::or(values[i], bit), 4);
                    }
                    let step = |group: usize| {
                        let byte = L::shift_right(scales[group / 4], 8 * (group % 4) as u32);
                        let centred = L::add_i(L::and(byte, L::splat_i(0xFF)), L::splat_i(-32));
                        L::mul(scale, L::to_float(centred))
                    };
                    let (first, second) = (step(2 * block), step(2 * block + 1));
                    to.take(PanelBlock { values, first, second });
                }
            }
        }
    }
}
