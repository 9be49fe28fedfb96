//! Arithmetic on f32.

use crate::float::{max, middle, min};
use crate::isa::Spec;
use crate::isa::spec::{accumulate, lane1, lane2, lane3};
use crate::lanes::flushed;

pub fn find(name: &str) -> Option<Spec> {
    one(name).or_else(|| two(name)).or_else(|| three(name))
}

fn one(name: &str) -> Option<Spec> {
    Some(match name {
        // The transcendental unit neither reads nor writes subnormals.
        "v_exp_f32" => lane1!(|a: f32| flushed(exp2(flushed(a)))),
        "v_log_f32" => lane1!(|a: f32| log2(flushed(a))),
        "v_rcp_f32" | "v_rcp_iflag_f32" => lane1!(|a: f32| flushed(1.0 / flushed(a))),
        "v_rsq_f32" => lane1!(|a: f32| (1.0 / f64::from(flushed(a)).sqrt()) as f32),
        "v_sqrt_f32" => lane1!(|a: f32| flushed(a).sqrt()),
        "v_sin_f32" => lane1!(|a: f32| (f64::from(a) * std::f64::consts::TAU).sin() as f32),
        "v_cos_f32" => lane1!(|a: f32| (f64::from(a) * std::f64::consts::TAU).cos() as f32),
        "v_floor_f32" => lane1!(f32::floor),
        "v_ceil_f32" => lane1!(f32::ceil),
        "v_trunc_f32" => lane1!(f32::trunc),
        "v_rndne_f32" => lane1!(f32::round_ties_even),
        "v_fract_f32" => lane1!(|a: f32| {
            let part = a - a.floor();
            // The largest value below one, when rounding would give one.
            if part >= 1.0 { f32::from_bits(0x3f7f_ffff) } else { part }
        }),
        "v_frexp_mant_f32" => lane1!(|a: f32| mantissa(a)),
        "v_frexp_exp_i32_f32" => lane1!(|a: f32| exponent(a)),
        _ => return None,
    })
}

/// 2^a by a polynomial in f64, which is wide enough that rounding to f32 is right but for one in a million.
#[inline(always)]
fn exp2(a: f32) -> f32 {
    const C: [f64; 10] = [
        1.0,
        std::f64::consts::LN_2,
        0.240_226_506_959_100_7,
        0.055_504_108_664_821_58,
        0.009_618_129_107_628_477,
        0.001_333_355_814_642_844_3,
        0.000_154_035_303_933_816_1,
        1.525_273_380_405_984e-5,
        1.321_548_679_014_431e-6,
        1.017_808_600_923_97e-7,
    ];
    let clamped = if a.is_nan() { 0.0 } else { f64::from(a).clamp(-200.0, 200.0) };
    let whole = clamped.round_ties_even();
    let part = clamped - whole;
    let sum = C.iter().rev().fold(0.0, |sum: f64, c| sum.mul_add(part, *c));
    let scale = f64::from_bits(((whole as i32 + 1023) as u64) << 52);
    if a.is_nan() { a } else { (sum * scale) as f32 }
}

#[inline(always)]
fn log2(a: f32) -> f32 {
    // log2(m) = 2 / ln 2 * atanh((m - 1) / (m + 1)), with m between sqrt(1/2) and sqrt(2).
    let bits = a.to_bits();
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let power = f64::from(shifted as i32 >> 23);
    let m = f64::from(f32::from_bits((shifted & 0x007f_ffff).wrapping_add(0x3f35_04f3)));
    let s = (m - 1.0) / (m + 1.0);
    let squared = s * s;
    let mut sum = 0.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        sum = squared.mul_add(sum, 1.0 / odd);
    }
    let result = (s * sum).mul_add(2.0 * std::f64::consts::LOG2_E, power) as f32;
    if a == 0.0 {
        f32::NEG_INFINITY
    } else if a.is_nan() || a == f32::INFINITY {
        a
    } else if a < 0.0 {
        f32::NAN
    } else {
        result
    }
}

/// The fraction between one half and one.
#[inline(always)]
fn mantissa(a: f32) -> f32 {
    if a == 0.0 || !a.is_finite() {
        return a;
    }
    let normal = if a.is_subnormal() { a * (1u32 << 24) as f32 } else { a };
    f32::from_bits(normal.to_bits() & 0x807f_ffff | 126 << 23)
}

#[inline(always)]
fn exponent(a: f32) -> i32 {
    if a == 0.0 || !a.is_finite() {
        return 0;
    }
    let (normal, less) = if a.is_subnormal() { (a * (1u32 << 24) as f32, 24) } else { (a, 0) };
    (normal.to_bits() >> 23 & 255) as i32 - 126 - less
}

/// In f64, which holds every product exactly: one rounding.
#[inline(always)]
fn ldexp(a: f32, by: i32) -> f32 {
    let power = |by: i32| f64::from_bits(((by + 1023) as u64) << 52);
    (f64::from(a) * power(by.clamp(-400, 400))) as f32
}

fn two(name: &str) -> Option<Spec> {
    Some(match name {
        "v_add_f32" => lane2!(|a: f32, b: f32| a + b),
        "v_sub_f32" => lane2!(|a: f32, b: f32| a - b),
        "v_subrev_f32" => lane2!(|a: f32, b: f32| b - a),
        "v_mul_f32" => lane2!(|a: f32, b: f32| a * b),
        // Zero times anything is zero, even infinity.
        "v_mul_dx9_zero_f32" | "v_mul_legacy_f32" => {
            lane2!(|a: f32, b: f32| if a == 0.0 || b == 0.0 { 0.0 } else { a * b })
        }
        "v_max_f32" => lane2!(max),
        "v_min_f32" => lane2!(min),
        "v_ldexp_f32" => lane2!(ldexp),
        _ => return None,
    })
}

fn three(name: &str) -> Option<Spec> {
    Some(match name {
        "v_fma_f32" | "v_fmaak_f32" => lane3!(|a: f32, b: f32, c: f32| a.mul_add(b, c)),
        // The constant stands in the middle: a * constant + b, which is the order of the text.
        "v_fmamk_f32" => lane3!(|a: f32, b: f32, c: f32| a.mul_add(b, c)),
        "v_fmac_f32" => accumulate!(|a: f32, b: f32, c: f32| a.mul_add(b, c)),
        "v_fma_dx9_zero_f32" => {
            lane3!(|a: f32, b: f32, c: f32| if a == 0.0 || b == 0.0 { 0.0 + c } else { a.mul_add(b, c) })
        }
        "v_max3_f32" => lane3!(|a: f32, b: f32, c: f32| max(max(a, b), c)),
        "v_min3_f32" => lane3!(|a: f32, b: f32, c: f32| min(min(a, b), c)),
        "v_med3_f32" => lane3!(middle),
        "v_maxmin_f32" => lane3!(|a: f32, b: f32, c: f32| min(max(a, b), c)),
        "v_minmax_f32" => lane3!(|a: f32, b: f32, c: f32| max(min(a, b), c)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_and_logarithms_are_within_a_unit_of_the_last_place() {
        let mut bits = 1u32;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let x = f32::from_bits(bits);
            let near = |found: f32, wanted: f64| {
                let wanted = wanted as f32;
                let same = found == wanted || found.is_nan() && wanted.is_nan();
                same || found.to_bits().abs_diff(wanted.to_bits()) <= 1
            };
            assert!(near(exp2(x), f64::from(x).exp2()), "exp2 {x}");
            if x.is_normal() {
                assert!(near(log2(x), f64::from(x).log2()), "log2 {x} {} {}", log2(x), f64::from(x).log2());
            }
        }
        assert_eq!((exp2(3.0), exp2(-1.0), log2(8.0), log2(1.0)), (8.0, 0.5, 3.0, 0.0));
        assert_eq!((log2(0.0), log2(f32::INFINITY)), (f32::NEG_INFINITY, f32::INFINITY));
    }

    #[test]
    fn takes_numbers_apart_and_together() {
        for x in [1.0f32, -3.5, 1e-40, 6e-39, 1e38] {
            assert_eq!(ldexp(mantissa(x), exponent(x)), x);
            assert!((0.5..1.0).contains(&mantissa(x).abs()));
        }
    }
}
