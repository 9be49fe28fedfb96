//! Arithmetic on 32-bit and 64-bit integers.

use crate::isa::Spec;
use crate::isa::spec::{lane2, lane3, run};
use crate::lanes::{Kind, Kinds, Lane};
use crate::wave::{LANES, Lanes, Wave, computed};
use crate::{group::Group, op::Op};

/// The low 24 bits.
fn low(bits: u32) -> u32 {
    bits & 0xff_ffff
}

/// The low 24 bits with their sign.
fn low_signed(bits: u32) -> i32 {
    (bits << 8) as i32 >> 8
}

pub fn find(name: &str) -> Option<Spec> {
    two(name).or_else(|| three(name))
}

fn two(name: &str) -> Option<Spec> {
    Some(match name {
        "v_add_nc_u32" => lane2!(|a: u32, b: u32| a.wrapping_add(b)),
        "v_sub_nc_u32" => lane2!(|a: u32, b: u32| a.wrapping_sub(b)),
        "v_subrev_nc_u32" => lane2!(|a: u32, b: u32| b.wrapping_sub(a)),
        "v_add_nc_u32 clamp" => lane2!(|a: u32, b: u32| a.saturating_add(b)),
        "v_sub_nc_u32 clamp" => lane2!(|a: u32, b: u32| a.saturating_sub(b)),
        "v_add_nc_i32 clamp" => lane2!(|a: i32, b: i32| a.saturating_add(b)),
        "v_sub_nc_i32 clamp" => lane2!(|a: i32, b: i32| a.saturating_sub(b)),
        "v_add_nc_i32" => lane2!(|a: i32, b: i32| a.wrapping_add(b)),
        "v_sub_nc_i32" => lane2!(|a: i32, b: i32| a.wrapping_sub(b)),
        "v_mul_lo_u32" => lane2!(|a: u32, b: u32| a.wrapping_mul(b)),
        "v_mul_hi_u32" => lane2!(|a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        "v_mul_hi_i32" => lane2!(|a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as i32),
        "v_mul_u32_u24" => lane2!(|a: u32, b: u32| low(a).wrapping_mul(low(b))),
        "v_mul_i32_i24" => lane2!(|a: u32, b: u32| low_signed(a).wrapping_mul(low_signed(b))),
        "v_mul_hi_u32_u24" => lane2!(|a: u32, b: u32| ((u64::from(low(a)) * u64::from(low(b))) >> 32) as u32),
        "v_mul_hi_i32_i24" => {
            lane2!(|a: u32, b: u32| ((i64::from(low_signed(a)) * i64::from(low_signed(b))) >> 32) as i32)
        }
        "v_min_u32" => lane2!(|a: u32, b: u32| a.min(b)),
        "v_max_u32" => lane2!(|a: u32, b: u32| a.max(b)),
        "v_min_i32" => lane2!(|a: i32, b: i32| a.min(b)),
        "v_max_i32" => lane2!(|a: i32, b: i32| a.max(b)),
        _ => return None,
    })
}

fn three(name: &str) -> Option<Spec> {
    Some(match name {
        "v_add3_u32" => lane3!(|a: u32, b: u32, c: u32| a.wrapping_add(b).wrapping_add(c)),
        "v_lshl_add_u32" => lane3!(|a: u32, b: u32, c: u32| (a << (b & 31)).wrapping_add(c)),
        "v_add_lshl_u32" => lane3!(|a: u32, b: u32, c: u32| a.wrapping_add(b) << (c & 31)),
        "v_xad_u32" => lane3!(|a: u32, b: u32, c: u32| (a ^ b).wrapping_add(c)),
        "v_mad_u32_u24" => lane3!(|a: u32, b: u32, c: u32| low(a).wrapping_mul(low(b)).wrapping_add(c)),
        "v_mad_i32_i24" => {
            lane3!(|a: u32, b: u32, c: i32| low_signed(a).wrapping_mul(low_signed(b)).wrapping_add(c))
        }
        "v_mad_u32_u16" => lane3!(|a: u32, b: u32, c: u32| ((a & 0xffff) * (b & 0xffff)).wrapping_add(c)),
        "v_mad_i32_i16" => {
            lane3!(|a: u32, b: u32, c: i32| (i32::from(a as i16) * i32::from(b as i16)).wrapping_add(c))
        }
        "v_min3_u32" => lane3!(|a: u32, b: u32, c: u32| a.min(b).min(c)),
        "v_max3_u32" => lane3!(|a: u32, b: u32, c: u32| a.max(b).max(c)),
        "v_med3_u32" => lane3!(|a: u32, b: u32, c: u32| a.min(b).max(a.max(b).min(c))),
        "v_min3_i32" => lane3!(|a: i32, b: i32, c: i32| a.min(b).min(c)),
        "v_max3_i32" => lane3!(|a: i32, b: i32, c: i32| a.max(b).max(c)),
        "v_med3_i32" => lane3!(|a: i32, b: i32, c: i32| a.min(b).max(a.max(b).min(c))),
        "v_maxmin_u32" => lane3!(|a: u32, b: u32, c: u32| a.max(b).min(c)),
        "v_minmax_u32" => lane3!(|a: u32, b: u32, c: u32| a.min(b).max(c)),
        "v_maxmin_i32" => lane3!(|a: i32, b: i32, c: i32| a.max(b).min(c)),
        "v_minmax_i32" => lane3!(|a: i32, b: i32, c: i32| a.min(b).max(c)),
        "v_sad_u32" => lane3!(|a: u32, b: u32, c: u32| a.abs_diff(b).wrapping_add(c)),
        "v_sad_u8" => lane3!(|a: u32, b: u32, c: u32| {
            let bytes = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            bytes.fold(c, |sum, (a, b)| sum.wrapping_add(u32::from(a.abs_diff(b))))
        }),
        "v_mad_u64_u32" => run!(Carry, multiply_add, |a: u32, b: u32, c: u64| {
            (u64::from(a) * u64::from(b)).overflowing_add(c)
        })
        .kinds(WIDE),
        "v_mad_i64_i32" => run!(Carry, multiply_add, |a: u32, b: u32, c: u64| {
            let (sum, carry) = (i64::from(a as i32) * i64::from(b as i32)).overflowing_add(c as i64);
            (sum as u64, carry)
        })
        .kinds(WIDE),
        _ => return None,
    })
}

const WIDE: Kinds = [Kind::Word, Kind::Word, Kind::Long, Kind::Long];

/// Two words and a long in, a long and a carry out.
#[inline(always)]
fn multiply_add(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32, u64) -> (u64, bool)) {
    // The low word does not depend on the high word of the sum, which compilers leave undefined when they use the low one only.
    let low_doubt = wave.doubt(op, 0, 0) | wave.doubt(op, 1, 0) | wave.doubt(op, 2, 0);
    let doubt = computed(low_doubt | wave.doubt(op, 2, 1));
    let (a, b, c) = (u32::fetch(wave, op, 0), u32::fetch(wave, op, 1), u64::fetch(wave, op, 2));
    let (mut low, mut high): (Lanes, Lanes) = ([0; LANES], [0; LANES]);
    let mut carries = 0u32;
    for lane in 0..LANES {
        let (sum, carry) = f(a[lane], b[lane], c[lane]);
        low[lane] = sum as u32;
        high[lane] = (sum >> 32) as u32;
        carries |= u32::from(carry) << lane;
    }
    let exec = wave.exec();
    wave.put(op.to, &low, computed(low_doubt), exec);
    wave.put(op.to.wrapping_add(1), &high, doubt, exec);
    wave.put_scalar(group, op, op.mask_to, carries & exec, doubt as u32 & exec);
}
