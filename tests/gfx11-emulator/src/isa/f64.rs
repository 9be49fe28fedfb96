//! Arithmetic on f64.

use crate::isa::Spec;
use crate::isa::spec::{lane1, lane2, lane3};

/// `maxNum` and `minNum` with -0 below +0.
#[inline(always)]
fn max(a: f64, b: f64) -> f64 {
    if a == b { if a.is_sign_negative() { b } else { a } } else { a.max(b) }
}

#[inline(always)]
fn min(a: f64, b: f64) -> f64 {
    if a == b { if a.is_sign_negative() { a } else { b } } else { a.min(b) }
}

pub fn find(name: &str) -> Option<Spec> {
    Some(match name {
        "v_add_f64" => lane2!(|a: f64, b: f64| a + b),
        "v_mul_f64" => lane2!(|a: f64, b: f64| a * b),
        "v_max_f64" => lane2!(max),
        "v_min_f64" => lane2!(min),
        "v_fma_f64" => lane3!(|a: f64, b: f64, c: f64| a.mul_add(b, c)),
        "v_ldexp_f64" => lane2!(|a: f64, by: i32| scaled(a, by)),
        "v_rcp_f64" => lane1!(|a: f64| 1.0 / a),
        "v_rsq_f64" => lane1!(|a: f64| 1.0 / a.sqrt()),
        "v_sqrt_f64" => lane1!(|a: f64| a.sqrt()),
        "v_floor_f64" => lane1!(|a: f64| a.floor()),
        "v_ceil_f64" => lane1!(|a: f64| a.ceil()),
        "v_trunc_f64" => lane1!(|a: f64| a.trunc()),
        "v_rndne_f64" => lane1!(|a: f64| a.round_ties_even()),
        "v_fract_f64" => lane1!(|a: f64| {
            let part = a - a.floor();
            if part >= 1.0 { 1.0f64.next_down() } else { part }
        }),
        "v_frexp_mant_f64" => lane1!(|a: f64| taken_apart(a).0),
        "v_frexp_exp_i32_f64" => lane1!(|a: f64| taken_apart(a).1),
        _ => return None,
    })
}

/// A fraction between one half and one, and a power of two.
fn taken_apart(a: f64) -> (f64, i32) {
    if a == 0.0 || !a.is_finite() {
        return (a, 0);
    }
    let (normal, less) = if a.is_subnormal() { (a * (1u64 << 54) as f64, 54) } else { (a, 0) };
    let bits = normal.to_bits();
    let fraction = f64::from_bits(bits & 0x800f_ffff_ffff_ffff | 1022 << 52);
    (fraction, (bits >> 52 & 2047) as i32 - 1022 - less)
}

/// In steps that neither overflow nor become subnormal before the last one.
fn scaled(a: f64, by: i32) -> f64 {
    let power = |by: i32| f64::from_bits(((by + 1023) as u64) << 52);
    let (fraction, exponent) = taken_apart(a);
    let total = exponent.saturating_add(by).clamp(-2000, 2000);
    if a == 0.0 || !a.is_finite() {
        a
    } else if total > 1000 {
        fraction * power(1000) * power((total - 1000).min(1000))
    } else if total < -1000 {
        fraction * power(-900) * power((total + 900).max(-1022))
    } else {
        fraction * power(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_to_the_ends_of_the_range() {
        for (a, by, wanted) in [
            (1.0, 1023, f64::from_bits(2046 << 52)),
            (1.0, 1024, f64::INFINITY),
            (1.5, -1074, f64::from_bits(2)),
            (1.0, -1074, f64::from_bits(1)),
            (1.0, -1076, 0.0),
            (f64::from_bits(1), 1074, 1.0),
            (-3.0, 4, -48.0),
        ] {
            assert_eq!(scaled(a, by), wanted, "{a} by {by}");
        }
    }
}
