//! The three helpers of an exact division: scaling, the last step of Newton's method, and the special cases.

use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::{lane3, run};
use crate::lanes::{Kind, Lane};
use crate::op::{Op, VCC};
use crate::wave::{LANES, Wave, both, computed};

pub fn find(name: &str) -> Option<Spec> {
    const FLOAT: [Kind; 4] = [Kind::Float; 4];
    const DOUBLE: [Kind; 4] = [Kind::Double; 4];
    Some(match name {
        "v_div_scale_f32" => run!(Carry, scale, |d: f32, n: f32, s: f32| scaled(d, n, s)).kinds(FLOAT),
        "v_div_scale_f64" => {
            run!(Carry, scale, |d: f64, n: f64, s: f64| scaled_double(d, n, s)).kinds(DOUBLE)
        }
        "v_div_fmas_f32" => run!(Plain, last_step, |a: f32, b: f32, c: f32, scale: bool| {
            // Undoes what v_div_scale did: a large quotient was made smaller, a small one larger.
            let back = if c.to_bits() >> 23 & 255 > 127 { 64.0f64 } else { -64.0 };
            if scale { scaled_sum(a, b, c, back.exp2()) } else { a.mul_add(b, c) }
        })
        .kinds(FLOAT),
        "v_div_fmas_f64" => run!(Plain, last_step, |a: f64, b: f64, c: f64, scale: bool| {
            let sum = a.mul_add(b, c);
            let back = if c.to_bits() >> 52 & 2047 > 1023 { 128.0f64 } else { -128.0 };
            if scale { sum * back.exp2() } else { sum }
        })
        .kinds(DOUBLE),
        "v_div_fixup_f32" => lane3!(|q: f32, d: f32, n: f32| {
            special(f64::from(d), f64::from(n)).map_or(signed(q, d, n), |value| value as f32)
        }),
        "v_div_fixup_f64" => lane3!(|q: f64, d: f64, n: f64| {
            let beyond = if n.abs() < d.abs() { 0.0 } else { f64::INFINITY };
            let q = if q.is_nan() { beyond } else { q };
            special(d, n).unwrap_or(if (d < 0.0) != (n < 0.0) { -q.abs() } else { q.abs() })
        }),
        "v_div_fixup_f16" => lane3!(|q: crate::float::Half, d: crate::float::Half, n: crate::float::Half| {
            let (d, n) = (d.value(), n.value());
            let value =
                special(f64::from(d), f64::from(n)).map_or(signed(q.value(), d, n), |value| value as f32);
            crate::float::Half::of(value)
        }),
        _ => return None,
    })
}

/// `(a * b + c) * factor`, rounded once: the product is exact in f64, and the sum is rounded to odd there.
fn scaled_sum(a: f32, b: f32, c: f32, factor: f64) -> f32 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let part = sum - product;
    let lost = (product - (sum - part)) + (c - part);
    let is_inexact = u64::from(lost.abs() > 0.0);
    let is_past = (lost.to_bits() ^ sum.to_bits()) >> 63;
    let odd = f64::from_bits((sum.to_bits() - (is_inexact & is_past)) | is_inexact);
    (odd * factor) as f32
}

/// The quotient with its sign. A NaN of two ordinary numbers comes from a step that left the range.
#[inline(always)]
fn signed(q: f32, d: f32, n: f32) -> f32 {
    let beyond = if n.abs() < d.abs() { 0.0 } else { f32::INFINITY };
    let q = if q.is_nan() { beyond } else { q };
    if (d.is_sign_negative()) != (n.is_sign_negative()) { -q.abs() } else { q.abs() }
}

/// The quotient `n / d` when it is decided by zeros, infinities and NaNs.
#[inline(always)]
fn special(d: f64, n: f64) -> Option<f64> {
    let sign = if d.is_sign_negative() != n.is_sign_negative() { -1.0 } else { 1.0 };
    if n.is_nan() {
        Some(n)
    } else if d.is_nan() {
        Some(d)
    } else if d == 0.0 && n == 0.0 || d.is_infinite() && n.is_infinite() {
        Some(f64::NAN)
    } else if d == 0.0 || n.is_infinite() {
        Some(sign * f64::INFINITY)
    } else if d.is_infinite() || n == 0.0 {
        Some(sign * 0.0)
    } else {
        None
    }
}

/// Scales the denominator or the numerator, whichever `s` is, so that no step of the division leaves the range; the flag says
/// that the quotient needs scaling back.
#[inline(always)]
fn scaled(d: f32, n: f32, s: f32) -> (f32, bool) {
    let exponent = |x: f32| (x.to_bits() >> 23 & 255) as i32;
    let up = f32::from_bits((127 + 64) << 23);
    if d == 0.0 || n == 0.0 {
        return (f32::NAN, false);
    }
    let is_denominator = s.to_bits() == d.to_bits();
    if exponent(n) - exponent(d) >= 96 {
        (if is_denominator { s * up } else { s }, true)
    } else if d.is_subnormal() {
        (s * up, false)
    } else if (1.0 / f64::from(d)) as f32 != 0.0 && ((1.0 / f64::from(d)) as f32).is_subnormal() {
        let is_small = (f64::from(n) / f64::from(d)).abs() < f64::from(f32::MIN_POSITIVE);
        if is_small { (if is_denominator { s / up } else { s }, true) } else { (s / up, false) }
    } else if (f64::from(n) / f64::from(d)).abs() < f64::from(f32::MIN_POSITIVE) {
        (if s.to_bits() == n.to_bits() { s * up } else { s }, true)
    } else if exponent(n) <= 23 {
        (s * up, false)
    } else {
        (s, false)
    }
}

#[inline(always)]
fn scaled_double(d: f64, n: f64, s: f64) -> (f64, bool) {
    let exponent = |x: f64| (x.to_bits() >> 52 & 2047) as i32;
    let up = f64::from_bits((1023 + 128) << 52);
    if d == 0.0 || n == 0.0 {
        return (f64::NAN, false);
    }
    let is_denominator = s.to_bits() == d.to_bits();
    if exponent(n) - exponent(d) >= 768 {
        (if is_denominator { s * up } else { s }, true)
    } else if d.is_subnormal() {
        (s * up, false)
    } else if (1.0 / d).is_subnormal() {
        let is_small = (n / d).is_subnormal() || n / d == 0.0;
        if is_small { (if is_denominator { s / up } else { s }, true) } else { (s / up, false) }
    } else if (n / d).is_subnormal() || n / d == 0.0 {
        (if s.to_bits() == n.to_bits() { s * up } else { s }, true)
    } else if exponent(n) <= 53 {
        (s * up, false)
    } else {
        (s, false)
    }
}

/// Operands in the text: what is scaled, the denominator, the numerator.
#[inline(always)]
fn scale<T: Lane>(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(T, T, T) -> (T, bool)) {
    let doubt = computed(T::doubt(wave, op, 0) | T::doubt(wave, op, 1) | T::doubt(wave, op, 2));
    let (s, d, n) = (T::fetch(wave, op, 0), T::fetch(wave, op, 1), T::fetch(wave, op, 2));
    let (mut results, mut mask) = (s, 0u32);
    for lane in 0..LANES {
        let (value, flag) = f(d[lane], n[lane], s[lane]);
        results[lane] = value;
        mask |= u32::from(flag) << lane;
    }
    T::store(wave, op, results, doubt);
    let exec = wave.exec();
    wave.put_scalar(group, op, op.mask_to, mask & exec, doubt as u32 & exec);
}

#[inline(always)]
fn last_step<T: Lane>(wave: &mut Wave, _: &mut Group<'_>, op: &Op, f: impl Fn(T, T, T, bool) -> T) {
    let vcc_doubt = wave.scalar_doubt[usize::from(VCC)];
    let doubt = T::doubt(wave, op, 0) | T::doubt(wave, op, 1) | T::doubt(wave, op, 2) | both(vcc_doubt);
    let (a, b, c) = (T::fetch(wave, op, 0), T::fetch(wave, op, 1), T::fetch(wave, op, 2));
    let vcc = wave.vcc();
    let mut results = a;
    for lane in 0..LANES {
        results[lane] = f(a[lane], b[lane], c[lane], vcc >> lane & 1 == 1);
    }
    T::store(wave, op, results, computed(doubt));
}
