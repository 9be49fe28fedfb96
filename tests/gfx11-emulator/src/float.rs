//! Half precision. All of it is free of branches, so that loops over lanes become vector instructions.

/// An IEEE half in the low 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Half(pub u32);

impl Half {
    /// Exact.
    #[inline(always)]
    pub fn value(self) -> f32 {
        let word = self.0 << 16;
        let (sign, twice) = (word & 0x8000_0000, word.wrapping_add(word));
        // The exponent is rebased by a multiplication, which also keeps infinities and NaNs what they are.
        let normal = f32::from_bits((twice >> 4).wrapping_add(0xe0 << 23)) * f32::from_bits(0x0780_0000);
        let subnormal = f32::from_bits(twice >> 17 | 126 << 23) - 0.5;
        let magnitude = if twice < 1 << 27 { subnormal } else { normal };
        f32::from_bits(sign | magnitude.to_bits())
    }

    /// Rounds to nearest, ties to even.
    #[inline(always)]
    pub fn of(value: f32) -> Half {
        let bits = value.to_bits();
        let twice = bits.wrapping_add(bits);
        // Adding a power of two that depends on the exponent leaves the rounded mantissa in the low bits.
        let scaled =
            (f32::from_bits(bits & 0x7fff_ffff) * f32::from_bits(0x7780_0000)) * f32::from_bits(0x0880_0000);
        let bias = (twice & 0xff00_0000).max(0x7100_0000);
        let sum = (f32::from_bits((bias >> 1).wrapping_add(0x0780_0000)) + scaled).to_bits();
        let magnitude = (sum >> 13 & 0x7c00) + (sum & 0x0fff);
        Half(bits >> 16 & 0x8000 | if twice > 0xff00_0000 { 0x7e00 } else { magnitude })
    }

    /// Rounds toward zero; finite values stay finite.
    #[inline(always)]
    pub fn toward_zero(value: f32) -> Half {
        let nearest = Half::of(value);
        let is_past = nearest.value().abs() > value.abs();
        Half(nearest.0 - u32::from(is_past))
    }

    /// Rounds a double to nearest. Direct: going through f32 would round twice.
    #[inline(always)]
    pub fn of_double(value: f64) -> Half {
        // f32 keeps 13 bits more than a half; rounding to odd first makes the second rounding right.
        Half::of(to_odd(value))
    }

    #[inline(always)]
    pub fn clamped(self) -> Half {
        let value = self.value();
        Half::of(if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) })
    }

    /// `a * b + c`, rounded once. The product is exact in f32, and the sum is rounded to odd there.
    #[inline(always)]
    pub fn fused(a: Half, b: Half, c: Half) -> Half {
        Half::of(sum_to_odd(a.value() * b.value(), c.value()))
    }
}

/// To f32 with the last bit set whenever something was lost (and no overflow).
#[inline(always)]
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || !nearest.is_finite() || value.is_nan() {
        return nearest;
    }
    let truncated = if back.abs() > value.abs() { nearest.to_bits() - 1 } else { nearest.to_bits() };
    f32::from_bits(truncated | 1)
}

/// `a + b` with the last bit set when the sum is not exact.
#[inline(always)]
fn sum_to_odd(a: f32, b: f32) -> f32 {
    let sum = a + b;
    let part = sum - a;
    // What rounding lost, exactly; a NaN when the sum is no number.
    let lost = (a - (sum - part)) + (b - part);
    let is_inexact = u32::from(lost.abs() > 0.0);
    let is_past = (lost.to_bits() ^ sum.to_bits()) >> 31;
    f32::from_bits((sum.to_bits() - (is_inexact & is_past)) | is_inexact)
}

#[inline(always)]
pub fn from_bfloat(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// The greater by IEEE `maxNum`, with -0 below +0. A NaN loses against a number.
#[inline(always)]
pub fn max(a: f32, b: f32) -> f32 {
    let greater = if order(a) > order(b) { a } else { b };
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        greater
    }
}

#[inline(always)]
pub fn min(a: f32, b: f32) -> f32 {
    let less = if order(a) < order(b) { a } else { b };
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        less
    }
}

/// An integer that orders floats, -0 before +0.
#[inline(always)]
fn order(value: f32) -> i32 {
    let bits = value.to_bits() as i32;
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

/// The middle of three; with a NaN the least of the others, as the ISA has it.
#[inline(always)]
pub fn middle(a: f32, b: f32, c: f32) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min(min(a, b), c);
    }
    max(min(a, b), min(max(a, b), c))
}
