//! Conversions between types.

use crate::float::Half;
use crate::isa::Spec;
use crate::isa::spec::{lane1, lane2, lane3};
use crate::lanes::Short;

pub fn find(name: &str) -> Option<Spec> {
    words(name).or_else(|| halves(name)).or_else(|| doubles(name)).or_else(|| packs(name))
}

#[inline(always)]
fn byte(a: u32, index: u32) -> f32 {
    (a >> (8 * index) & 255) as f32
}

fn words(name: &str) -> Option<Spec> {
    Some(match name {
        "v_cvt_f32_u32" => lane1!(|a: u32| a as f32),
        "v_cvt_f32_i32" => lane1!(|a: i32| a as f32),
        // Out of range goes to the end of the range, NaN to zero: as Rust has it.
        "v_cvt_u32_f32" => lane1!(|a: f32| a as u32),
        "v_cvt_i32_f32" => lane1!(|a: f32| a as i32),
        "v_cvt_nearest_i32_f32" | "v_cvt_rpi_i32_f32" => lane1!(|a: f32| (a + 0.5).floor() as i32),
        "v_cvt_floor_i32_f32" | "v_cvt_flr_i32_f32" => lane1!(|a: f32| a.floor() as i32),
        "v_cvt_f32_ubyte0" => lane1!(|a: u32| byte(a, 0)),
        "v_cvt_f32_ubyte1" => lane1!(|a: u32| byte(a, 1)),
        "v_cvt_f32_ubyte2" => lane1!(|a: u32| byte(a, 2)),
        "v_cvt_f32_ubyte3" => lane1!(|a: u32| byte(a, 3)),
        "v_cvt_i32_i16" => lane1!(|a: Short| i32::from(a.0 as i16)),
        "v_cvt_u32_u16" => lane1!(|a: Short| u32::from(a.0)),
        // A signed nibble in sixteenths.
        "v_cvt_off_f32_i4" => lane1!(|a: u32| ((a << 28) as i32 >> 28) as f32 / 16.0),
        _ => return None,
    })
}

fn halves(name: &str) -> Option<Spec> {
    Some(match name {
        "v_cvt_f32_f16" => lane1!(|a: Half| a.value()),
        "v_cvt_f16_f32" => lane1!(Half::of),
        "v_cvt_f16_u16" => lane1!(|a: Short| Half::of(f32::from(a.0))),
        "v_cvt_f16_i16" => lane1!(|a: Short| Half::of(f32::from(a.0 as i16))),
        "v_cvt_u16_f16" => lane1!(|a: Half| Short(a.value() as u16)),
        "v_cvt_i16_f16" => lane1!(|a: Half| Short(a.value() as i16 as u16)),
        _ => return None,
    })
}

fn doubles(name: &str) -> Option<Spec> {
    Some(match name {
        "v_cvt_f64_f32" => lane1!(|a: f32| f64::from(a)),
        "v_cvt_f32_f64" => lane1!(|a: f64| a as f32),
        "v_cvt_f64_i32" => lane1!(|a: i32| f64::from(a)),
        "v_cvt_f64_u32" => lane1!(|a: u32| f64::from(a)),
        "v_cvt_i32_f64" => lane1!(|a: f64| a as i32),
        "v_cvt_u32_f64" => lane1!(|a: f64| a as u32),
        _ => return None,
    })
}

#[inline(always)]
fn pair(low: u32, high: u32) -> u32 {
    low & 0xffff | high << 16
}

#[inline(always)]
fn normalized(a: f32, scale: f32) -> f32 {
    let clamped = if a.is_nan() { 0.0 } else { a.clamp(if scale > 40_000.0 { 0.0 } else { -1.0 }, 1.0) };
    (clamped * scale).round_ties_even()
}

fn packs(name: &str) -> Option<Spec> {
    Some(match name {
        "v_cvt_pk_rtz_f16_f32" | "v_cvt_pkrtz_f16_f32" => {
            lane2!(|a: f32, b: f32| pair(Half::toward_zero(a).0, Half::toward_zero(b).0))
        }
        "v_cvt_pk_i16_f32" => lane2!(|a: f32, b: f32| pair(a as i16 as u32, b as i16 as u32)),
        "v_cvt_pk_u16_f32" => lane2!(|a: f32, b: f32| pair(a as u16 as u32, b as u16 as u32)),
        "v_cvt_pk_norm_i16_f32" | "v_cvt_pknorm_i16_f32" => {
            lane2!(|a: f32, b: f32| pair(
                normalized(a, 32767.0) as i32 as u32,
                normalized(b, 32767.0) as i32 as u32
            ))
        }
        "v_cvt_pk_norm_u16_f32" | "v_cvt_pknorm_u16_f32" => {
            lane2!(|a: f32, b: f32| pair(normalized(a, 65535.0) as u32, normalized(b, 65535.0) as u32))
        }
        "v_cvt_pk_u16_u32" => lane2!(|a: u32, b: u32| pair(a.min(0xffff), b.min(0xffff))),
        "v_cvt_pk_i16_i32" => {
            lane2!(|a: i32, b: i32| pair(a.clamp(-32768, 32767) as u32, b.clamp(-32768, 32767) as u32))
        }
        "v_pack_b32_f16" => lane2!(|a: Half, b: Half| pair(a.0, b.0)),
        // The float as a byte, put at the byte that the second source names, into the third.
        "v_cvt_pk_u8_f32" => lane3!(|a: f32, at: u32, into: u32| {
            let shift = 8 * (at & 3);
            into & !(255 << shift) | u32::from(a as u8) << shift
        }),
        _ => return None,
    })
}
