//! Codewords as the bytes of registers: eight levels in two words, or four in one.

use weft_core::quant::{codebooks, levels};

use super::lanes::Lanes;
use super::panel::four_times;

pub(super) static IQ1: [u32; 4096] = eights(&codebooks::IQ1, levels::IQ1);
pub(super) static IQ2_XXS: [u32; 512] = eights(&codebooks::IQ2_XXS, levels::IQ2);
pub(super) static IQ2_XS: [u32; 1024] = eights(&codebooks::IQ2_XS, levels::IQ2);
pub(super) static IQ2_S: [u32; 2048] = eights(&codebooks::IQ2_S, levels::IQ2);
pub(super) static IQ3_XXS: [u32; 256] = fours(&codebooks::IQ3_XXS, levels::IQ3_XXS);
pub(super) static IQ3_S: [u32; 512] = fours(&codebooks::IQ3_S, levels::IQ3_S);

/// Words of eight levels numbered by two bits each.
const fn eights<const N: usize>(codebook: &[u16], levels: [i8; 4]) -> [u32; N] {
    let mut words = [0; N];
    let mut at = 0;
    while at < 8 * codebook.len() {
        let number = codebook[at / 8] >> (2 * (at % 8)) & 3;
        words[at / 4] |= (levels[number as usize] as u8 as u32) << (8 * (at % 4));
        at += 1;
    }
    words
}

/// Words of four levels numbered by four bits each.
const fn fours<const N: usize>(codebook: &[u16], levels: [i8; 8]) -> [u32; N] {
    let mut words = [0; N];
    let mut at = 0;
    while at < 4 * codebook.len() {
        let number = codebook[at / 4] >> (4 * (at % 4)) & 7;
        words[at / 4] |= (levels[number as usize] as u8 as u32) << (8 * (at % 4));
        at += 1;
    }
    words
}

/// Word `number · STEP + part` of a table, which has at least `STEP << BITS` words; numbers are cut to `BITS` bits.
#[inline(always)]
pub(super) fn word<L: Lanes, const BITS: u32, const STEP: usize>(
    table: &'static [u32],
    number: L::I,
    part: usize,
) -> L::I {
    debug_assert!(table.len() >= STEP << BITS && part < STEP);
    let number = L::and(number, L::splat_i((1 << BITS) - 1));
    let at = L::add_i(L::mul_i(number, L::splat_i(STEP as i32)), L::splat_i(part as i32));
    // SAFETY: the number is below `1 << BITS`, the part below STEP, and every caller's table as long as that.
    unsafe { L::pick(table.as_ptr(), at) }
}

/// Four levels above zero, negative where their bit of `signs` is set.
#[inline(always)]
pub(super) fn with_signs<L: Lanes>(levels: L::I, signs: L::I) -> L::I {
    let four = L::and(signs, L::splat_i(15));
    // Bit j of four goes to bit 0 of byte j.
    let bits = L::and(L::mul_i(four, L::splat_i(0x0020_4081)), L::splat_i(four_times(1)));
    // -x is !x + 1, byte by byte.
    L::add_bytes(L::xor(levels, L::mul_i(bits, L::splat_i(255))), bits)
}

/// Bits `7k..` of seven signs with an eighth that makes their number even.
#[inline(always)]
pub(super) fn even_signs<L: Lanes>(packed: L::I, k: u32) -> L::I {
    let seven = L::and(L::shift_right(packed, 7 * k), L::splat_i(127));
    let folded = L::xor(seven, L::shift_right(seven, 4));
    let folded = L::xor(folded, L::shift_right(folded, 2));
    let folded = L::and(L::xor(folded, L::shift_right(folded, 1)), L::splat_i(1));
    L::or(seven, L::shift_left(folded, 7))
}
