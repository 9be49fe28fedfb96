//! Levels that blocks only number: of four bits each, or of codewords (`codebooks.rs`).

use super::halves;

/// Levels of IQ4_NL and IQ4_XS.
pub const IQ4: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];
/// Twice the levels of MXFP4 and NVFP4: floats of a sign, two bits of exponent and one of mantissa.
pub const FP4: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// Eight times the levels of IQ1, before the eighth that is added to or taken off each. No codeword holds the last.
pub const IQ1: [i8; 4] = [-8, 0, 8, 0];
/// Levels of IQ2. No codeword holds the last.
pub const IQ2: [i8; 4] = [8, 25, 43, 0];
/// Levels of IQ3_XXS.
pub const IQ3_XXS: [i8; 8] = [4, 12, 20, 28, 36, 44, 52, 62];
/// Levels of IQ3_S.
pub const IQ3_S: [i8; 8] = [1, 3, 5, 7, 9, 11, 13, 15];

/// The number of the level nearest to `value`; of the first one for NaN.
pub(super) fn nearest(levels: &[i8; 16], value: f32) -> u8 {
    let mut best = (0, f32::INFINITY);
    for (number, level) in (0u8..).zip(levels) {
        let off = (value - f32::from(*level)).abs();
        if off < best.1 {
            best = (number, off);
        }
    }
    best.0
}

/// The step of 32 values with the levels [`IQ4`], found among candidates around the obvious one; each error has a weight.
pub(super) fn iq4_step(values: &[f32; 32], weights: &[f32; 32]) -> f32 {
    let peak = halves::peak(values);
    if peak == 0.0 || !peak.is_finite() {
        return 0.0;
    }
    let (mut best, mut most) = (-peak / 127.0, f32::NEG_INFINITY);
    for top in [-127.0, -119.0, -111.0, -104.0, -135.0, -143.0, 113.0, 105.0, 97.0, 121.0] {
        let inverse = top / peak;
        let (mut xl, mut ll) = (0.0, 0.0);
        for (x, weight) in values.iter().zip(weights) {
            let level = f32::from(IQ4[usize::from(nearest(&IQ4, x * inverse))]);
            xl += weight * x * level;
            ll += weight * level * level;
        }
        // The best step for these levels is xl / ll; it removes xl² / ll of the error.
        if ll > 0.0 && xl * xl > most * ll {
            (best, most) = (xl / ll, xl * xl / ll);
        }
    }
    if best.is_finite() { best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_nearest_to_themselves() {
        for (number, level) in (0u8..).zip(IQ4) {
            assert_eq!(nearest(&IQ4, f32::from(level) + 0.4), number);
        }
        assert_eq!(nearest(&FP4, 9.0), 6);
        assert_eq!(nearest(&FP4, -100.0), 15);
        assert_eq!(nearest(&FP4, f32::NAN), 0);
    }
}
