//! Dot products inside a lane.

use crate::float::{Half, from_bfloat};
use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::{lane3, run};
use crate::lanes::{Kind, Lane};
use crate::op::Op;
use crate::wave::{LANES, Wave, computed};

const KINDS: [Kind; 4] = [Kind::Packed, Kind::Packed, Kind::Float, Kind::Float];

pub fn find(name: &str) -> Option<Spec> {
    Some(match name {
        "v_dot2_f32_f16" => run!(Plain, two_to_float, |bits| Half(bits).value()).kinds(KINDS),
        "v_dot2acc_f32_f16" | "v_dot2c_f32_f16" => {
            run!(Accumulate, two_to_float, |bits| Half(bits).value()).kinds(KINDS)
        }
        "v_dot2_f32_bf16" => run!(Plain, two_to_float, from_bfloat).kinds(KINDS),
        "v_dot2_f16_f16" => lane3!(|a: u32, b: u32, c: Half| {
            let part = |bits: u32, k: u32| Half(bits >> (16 * k) & 0xffff).value();
            Half::of(part(a, 0).mul_add(part(b, 0), part(a, 1).mul_add(part(b, 1), c.value())))
        }),
        "v_dot4_i32_iu8" => run!(Plain, integers::<8>, false).with_signs(),
        "v_dot4_i32_iu8 clamp" => run!(Plain, integers::<8>, true).with_signs(),
        "v_dot8_i32_iu4" => run!(Plain, integers::<4>, false).with_signs(),
        "v_dot8_i32_iu4 clamp" => run!(Plain, integers::<4>, true).with_signs(),
        // Unsigned: no source is marked as signed.
        "v_dot4_u32_u8" => run!(Plain, integers::<8>, false),
        "v_dot8_u32_u4" => run!(Plain, integers::<4>, false),
        _ => return None,
    })
}

#[inline(always)]
fn two_to_float(wave: &mut Wave, _: &mut Group<'_>, op: &Op, value: impl Fn(u32) -> f32) {
    let doubt = wave.doubt(op, 0, 0) | wave.doubt(op, 1, 0) | wave.doubt(op, 2, 0);
    let (a, b, c) = (wave.words(op, 0), wave.words(op, 1), f32::fetch(wave, op, 2));
    let sign = |k: u8| {
        (if op.negate >> k & 1 == 1 { 0x8000 } else { 0 })
            | if op.negate_high >> k & 1 == 1 { 1 << 31 } else { 0 }
    };
    let (sign_a, sign_b) = (sign(0), sign(1));
    let mut sums = [0.0; LANES];
    for lane in 0..LANES {
        let (a, b) = (a[lane] ^ sign_a, b[lane] ^ sign_b);
        let low = value(a & 0xffff) * value(b & 0xffff);
        sums[lane] = low + value(a >> 16) * value(b >> 16) + c[lane];
    }
    f32::store(wave, op, sums, computed(doubt));
}

/// `BITS` bits an element; `neg_lo` says which source is signed.
#[inline(always)]
fn integers<const BITS: u32>(wave: &mut Wave, _: &mut Group<'_>, op: &Op, saturates: bool) {
    let doubt = wave.doubt(op, 0, 0) | wave.doubt(op, 1, 0) | wave.doubt(op, 2, 0);
    let (a, b, c) = (wave.words(op, 0), wave.words(op, 1), wave.words(op, 2));
    let (first_signed, second_signed) = (op.negate & 1 == 1, op.negate >> 1 & 1 == 1);
    let mut sums = [0; LANES];
    for lane in 0..LANES {
        let mut sum = 0i32;
        for k in 0..32 / BITS {
            let element = |word: u32, is_signed: bool| {
                let top = word << (32 - BITS - BITS * k);
                if is_signed { top as i32 >> (32 - BITS) } else { (top >> (32 - BITS)) as i32 }
            };
            sum += element(a[lane], first_signed) * element(b[lane], second_signed);
        }
        let c = c[lane] as i32;
        sums[lane] = if saturates { c.saturating_add(sum) } else { c.wrapping_add(sum) } as u32;
    }
    let exec = wave.exec();
    wave.put(op.to, &sums, computed(doubt), exec);
}
