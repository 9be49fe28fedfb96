//! Arithmetic on one half a lane.

use crate::float::{Half, max, middle, min};
use crate::isa::Spec;
use crate::isa::spec::{accumulate, lane1, lane2, lane3};
use crate::lanes::Short;

/// Through f32, whose precision is more than twice that of a half: one rounding for sums, products, quotients and roots.
macro_rules! one {
    ($f:expr) => {
        lane1!(|a: Half| Half::of($f(a.value())))
    };
}

macro_rules! two {
    ($f:expr) => {
        lane2!(|a: Half, b: Half| Half::of($f(a.value(), b.value())))
    };
}

macro_rules! three {
    ($f:expr) => {
        lane3!(|a: Half, b: Half, c: Half| Half::of($f(a.value(), b.value(), c.value())))
    };
}

pub fn find(name: &str) -> Option<Spec> {
    single(name).or_else(|| several(name))
}

fn single(name: &str) -> Option<Spec> {
    Some(match name {
        "v_exp_f16" => lane1!(|a: Half| Half::of_double(f64::from(a.value()).exp2())),
        "v_log_f16" => lane1!(|a: Half| Half::of_double(f64::from(a.value()).log2())),
        "v_rcp_f16" => one!(|a: f32| 1.0 / a),
        "v_rsq_f16" => lane1!(|a: Half| Half::of_double(1.0 / f64::from(a.value()).sqrt())),
        "v_sqrt_f16" => one!(f32::sqrt),
        "v_sin_f16" => {
            lane1!(|a: Half| Half::of_double((f64::from(a.value()) * std::f64::consts::TAU).sin()))
        }
        "v_cos_f16" => {
            lane1!(|a: Half| Half::of_double((f64::from(a.value()) * std::f64::consts::TAU).cos()))
        }
        "v_floor_f16" => one!(f32::floor),
        "v_ceil_f16" => one!(f32::ceil),
        "v_trunc_f16" => one!(f32::trunc),
        "v_rndne_f16" => one!(f32::round_ties_even),
        "v_fract_f16" => lane1!(|a: Half| {
            let a = a.value();
            let part = Half::of(a - a.floor());
            // The largest half below one, when rounding would give one.
            if part.0 == 0x3c00 { Half(0x3bff) } else { part }
        }),
        "v_frexp_mant_f16" => one!(|a: f32| {
            if a == 0.0 || !a.is_finite() { a } else { f32::from_bits(a.to_bits() & 0x807f_ffff | 126 << 23) }
        }),
        "v_frexp_exp_i16_f16" => lane1!(|a: Half| {
            let a = a.value();
            let exponent = (a.to_bits() >> 23 & 255) as i32 - 126;
            Short(if a == 0.0 || !a.is_finite() { 0 } else { exponent as u16 })
        }),
        _ => return None,
    })
}

#[inline(always)]
fn scaled(a: f32, by: i32) -> Half {
    let power = f64::from_bits(((by.clamp(-60, 60) + 1023) as u64) << 52);
    Half::of_double(f64::from(a) * power)
}

fn several(name: &str) -> Option<Spec> {
    Some(match name {
        "v_add_f16" => two!(|a: f32, b: f32| a + b),
        "v_sub_f16" => two!(|a: f32, b: f32| a - b),
        "v_subrev_f16" => two!(|a: f32, b: f32| b - a),
        "v_mul_f16" => two!(|a: f32, b: f32| a * b),
        "v_max_f16" => two!(max),
        "v_min_f16" => two!(min),
        "v_ldexp_f16" => lane2!(|a: Half, by: Short| scaled(a.value(), i32::from(by.0 as i16))),
        "v_fma_f16" | "v_fmaak_f16" | "v_fmamk_f16" => lane3!(Half::fused),
        "v_fmac_f16" => accumulate!(Half::fused),
        "v_max3_f16" => three!(|a, b, c| max(max(a, b), c)),
        "v_min3_f16" => three!(|a, b, c| min(min(a, b), c)),
        "v_med3_f16" => three!(middle),
        "v_maxmin_f16" => three!(|a, b, c| min(max(a, b), c)),
        "v_minmax_f16" => three!(|a, b, c| max(min(a, b), c)),
        _ => return None,
    })
}
