//! Half-precision fields of blocks, and the two packings of bits that the blocks of 32 share.

use half::f16;

/// The largest finite half.
const LARGEST: f32 = 65504.0;

/// A little-endian half.
pub(super) fn read(bytes: [u8; 2]) -> f32 {
    f16::from_le_bytes(bytes).to_f32()
}

/// The nearest finite half as bytes, and the value that a reader will see. NaN becomes zero.
pub(super) fn round(value: f32) -> ([u8; 2], f32) {
    let finite = if value.is_nan() { 0.0 } else { value.clamp(-LARGEST, LARGEST) };
    let half = f16::from_f32(finite);
    (half.to_le_bytes(), half.to_f32())
}

/// `1 / value`, or zero where that is not finite.
pub(super) fn inverse(value: f32) -> f32 {
    let inverse = 1.0 / value;
    if inverse.is_finite() { inverse } else { 0.0 }
}

/// The value of largest magnitude, with its sign; zero for an empty slice.
pub(super) fn peak(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |peak, &v| if v.abs() > peak.abs() { v } else { peak })
}

/// The smallest and the largest value, NaN aside; zeros where there is none.
pub(super) fn range(values: &[f32]) -> (f32, f32) {
    let (low, high) =
        values.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// The level nearest to `value`, within `0..=top`. NaN becomes zero.
pub(super) fn level(value: f32, top: u8) -> u8 {
    // `as` saturates and sends NaN to zero.
    (value.round() as u8).min(top)
}

/// Packs the low four bits of 32 levels: level `j` in the low nibble of byte `j`, level `j + 16` in the high one.
pub(super) fn pack_nibbles(levels: &[u8; 32], nibbles: &mut [u8; 16]) {
    for (j, byte) in nibbles.iter_mut().enumerate() {
        *byte = (levels[j] & 15) | (levels[j + 16] << 4);
    }
}

/// Undoes [`pack_nibbles`].
pub(super) fn unpack_nibbles(nibbles: &[u8; 16]) -> [u8; 32] {
    std::array::from_fn(|j| if j < 16 { nibbles[j] & 15 } else { nibbles[j - 16] >> 4 })
}

/// Packs bit 4 of 32 levels: that of level `j` in bit `j`.
pub(super) fn pack_fifth_bits(levels: &[u8; 32]) -> [u8; 4] {
    let bits =
        levels.iter().enumerate().fold(0u32, |bits, (j, level)| bits | (u32::from(level >> 4) & 1) << j);
    bits.to_le_bytes()
}

/// The levels of 32 nibbles with the bits of [`pack_fifth_bits`] above them.
pub(super) fn unpack_five_bits(high: [u8; 4], nibbles: &[u8; 16]) -> [u8; 32] {
    let high = u32::from_le_bytes(high);
    let mut levels = unpack_nibbles(nibbles);
    for (j, level) in levels.iter_mut().enumerate() {
        *level |= ((high >> j & 1) as u8) << 4;
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_bit_levels_survive_packing() {
        let levels: [u8; 32] = std::array::from_fn(|j| (j * 7 % 32) as u8);
        let mut nibbles = [0; 16];
        pack_nibbles(&levels, &mut nibbles);
        assert_eq!(unpack_five_bits(pack_fifth_bits(&levels), &nibbles), levels);
    }

    #[test]
    fn rounding_to_half_never_gives_infinity() {
        assert_eq!(round(1e9).1, LARGEST);
        assert_eq!(round(f32::NEG_INFINITY).1, -LARGEST);
        assert_eq!(round(f32::NAN).1, 0.0);
        assert_eq!(inverse(0.0), 0.0);
    }
}
