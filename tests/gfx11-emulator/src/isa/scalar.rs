//! Scalar arithmetic on 32 bits.

use crate::fault::FaultKind;
use crate::float::{Half, max, min};
use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::plain;
use crate::lanes::Kind;
use crate::op::{EXEC, Op, Source};
use crate::wave::Wave;

pub fn find(name: &str) -> Option<Spec> {
    arithmetic(name)
        .or_else(|| logic_of(name))
        .or_else(|| single(name))
        .or_else(|| comparison(name))
        .or_else(|| floating(name))
        .or_else(|| save_exec(name))
}

fn arithmetic(name: &str) -> Option<Spec> {
    Some(match name {
        "s_add_u32" => plain!(Plain, two, |a, b, _| carried(a.overflowing_add(b))),
        "s_sub_u32" => plain!(Plain, two, |a, b, _| carried(a.overflowing_sub(b))),
        "s_add_i32" => plain!(Plain, two, |a, b, _| overflowed((a as i32).overflowing_add(b as i32))),
        "s_sub_i32" => plain!(Plain, two, |a, b, _| overflowed((a as i32).overflowing_sub(b as i32))),
        "s_addc_u32" => plain!(Plain, with_carry, |a, b, carry| {
            let sum = u64::from(a) + u64::from(b) + u64::from(carry);
            (sum as u32, sum >> 32 != 0)
        }),
        "s_subb_u32" => plain!(Plain, with_carry, |a, b, carry| {
            let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(carry));
            (difference as u32, difference >> 32 != 0)
        }),
        "s_addk_i32" => plain!(Accumulate, constant, |a, k: i32| overflowed((a as i32).overflowing_add(k))),
        "s_mulk_i32" => plain!(Accumulate, constant_kept, |a, k: i32| (a as i32).wrapping_mul(k) as u32),
        "s_mul_i32" => plain!(Plain, product),
        "s_mul_hi_u32" => plain!(Plain, kept, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        "s_mul_hi_i32" => {
            plain!(Plain, kept, |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32)
        }
        "s_min_u32" => plain!(Plain, two, |a: u32, b, _| (a.min(b), Some(a < b))),
        "s_max_u32" => plain!(Plain, two, |a: u32, b, _| (a.max(b), Some(a > b))),
        "s_min_i32" => {
            plain!(Plain, two, |a, b, _| ((a as i32).min(b as i32) as u32, Some((a as i32) < b as i32)))
        }
        "s_max_i32" => {
            plain!(Plain, two, |a, b, _| ((a as i32).max(b as i32) as u32, Some(a as i32 > b as i32)))
        }
        "s_absdiff_i32" => plain!(Plain, nonzero, |a, b| (a as i32).wrapping_sub(b as i32).unsigned_abs()),
        "s_lshl_b32" => plain!(Plain, shift, |a, by| a << by),
        "s_lshr_b32" => plain!(Plain, shift, |a, by| a >> by),
        "s_ashr_i32" => plain!(Plain, shift, |a, by| ((a as i32) >> by) as u32),
        "s_lshl1_add_u32" => plain!(Plain, two, |a, b, _| shifted_sum(a, b, 1)),
        "s_lshl2_add_u32" => plain!(Plain, two, |a, b, _| shifted_sum(a, b, 2)),
        "s_lshl3_add_u32" => plain!(Plain, two, |a, b, _| shifted_sum(a, b, 3)),
        "s_lshl4_add_u32" => plain!(Plain, two, |a, b, _| shifted_sum(a, b, 4)),
        "s_bfm_b32" => plain!(Plain, kept, |a, b| ((1u32 << (a & 31)) - 1) << (b & 31)),
        "s_bfe_u32" => plain!(Plain, nonzero, field),
        "s_bfe_i32" => plain!(Plain, nonzero, |a, b| {
            let width = (b >> 16 & 127).min(32);
            if width == 0 { 0 } else { ((field(a, b) << (32 - width)) as i32 >> (32 - width)) as u32 }
        }),
        "s_pack_ll_b32_b16" => plain!(Plain, kept, |a, b| a & 0xffff | b << 16),
        "s_pack_lh_b32_b16" => plain!(Plain, kept, |a, b| a & 0xffff | b & 0xffff_0000),
        "s_pack_hh_b32_b16" => plain!(Plain, kept, |a, b| a >> 16 | b & 0xffff_0000),
        "s_pack_hl_b32_b16" => plain!(Plain, kept, |a, b| a >> 16 | b << 16),
        "s_cselect_b32" => plain!(Plain, select),
        "s_movk_i32" => plain!(Plain, move_value),
        "s_cmovk_i32" | "s_cmov_b32" => plain!(Plain, move_if),
        _ => return None,
    })
}

fn carried((value, carry): (u32, bool)) -> (u32, Option<bool>) {
    (value, Some(carry))
}

fn overflowed((value, overflow): (i32, bool)) -> (u32, Option<bool>) {
    (value as u32, Some(overflow))
}

fn shifted_sum(a: u32, b: u32, by: u32) -> (u32, Option<bool>) {
    let sum = (u64::from(a) << by) + u64::from(b);
    (sum as u32, Some(sum >> 32 != 0))
}

/// Offset in the low five bits of `b`, width from bit 16.
fn field(a: u32, b: u32) -> u32 {
    let (offset, width) = (b & 31, b >> 16 & 127);
    if width >= 32 { a >> offset } else { a >> offset & ((1 << width) - 1) }
}

/// What is undefined moves along.
fn shift(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32) -> u32) {
    let ((a, a_doubt), (by, by_doubt)) = (wave.scalar_of(op.from[0]), wave.scalar_of(op.from[1]));
    let value = f(a, by & 31);
    let doubt = if by_doubt == 0 { f(a_doubt, by & 31) } else { !0 };
    wave.condition = value != 0;
    wave.condition_doubt = doubt != 0 && value & !doubt == 0;
    wave.put_scalar(group, op, op.to, value, doubt);
}

/// Bits below the lowest undefined one are defined.
fn product(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let ((a, a_doubt), (b, b_doubt)) = (wave.scalar_of(op.from[0]), wave.scalar_of(op.from[1]));
    let lowest = (a_doubt | b_doubt).trailing_zeros();
    wave.put_scalar(group, op, op.to, a.wrapping_mul(b), (!0u32).checked_shl(lowest).unwrap_or(0));
}

/// All bits in doubt when any bit of a source is.
fn spread(doubt: u32) -> u32 {
    if doubt == 0 { 0 } else { !0 }
}

/// A result and, when there is one, a new condition.
fn two(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32, ()) -> (u32, Option<bool>)) {
    let ((a, a_doubt), (b, b_doubt)) = (wave.scalar_of(op.from[0]), wave.scalar_of(op.from[1]));
    let (value, condition) = f(a, b, ());
    let doubt = spread(a_doubt | b_doubt);
    if let Some(condition) = condition {
        wave.condition = condition;
        wave.condition_doubt = doubt != 0;
    }
    wave.put_scalar(group, op, op.to, value, doubt);
}

fn with_carry(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32, bool) -> (u32, bool)) {
    let ((a, a_doubt), (b, b_doubt)) = (wave.scalar_of(op.from[0]), wave.scalar_of(op.from[1]));
    let (value, carry) = f(a, b, wave.condition);
    let doubt = if wave.condition_doubt { !0 } else { spread(a_doubt | b_doubt) };
    wave.condition = carry;
    wave.condition_doubt = doubt != 0;
    wave.put_scalar(group, op, op.to, value, doubt);
}

/// The condition stays.
fn kept(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32) -> u32) {
    two(wave, group, op, |a, b, ()| (f(a, b), None));
}

/// The condition says whether the result is not zero.
fn nonzero(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32) -> u32) {
    two(wave, group, op, |a, b, ()| {
        let value = f(a, b);
        (value, Some(value != 0))
    });
}

/// The destination with a constant.
fn constant(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, i32) -> (u32, Option<bool>)) {
    let (a, doubt) = wave.scalar_of(Source::Scalar(op.to));
    let (k, _) = wave.scalar_of(op.from[0]);
    let (value, condition) = f(a, i32::from(k as i16));
    if let Some(condition) = condition {
        wave.condition = condition;
        wave.condition_doubt = doubt != 0;
    }
    wave.put_scalar(group, op, op.to, value, spread(doubt));
}

fn constant_kept(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, i32) -> u32) {
    constant(wave, group, op, |a, k| (f(a, k), None));
}

fn select(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let chosen = if wave.condition { op.from[0] } else { op.from[1] };
    let (value, doubt) = wave.scalar_of(chosen);
    let doubt = if wave.condition_doubt { !0 } else { doubt };
    wave.put_scalar(group, op, op.to, value, doubt);
}

fn move_value(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let (value, doubt) = wave.scalar_of(op.from[0]);
    let value = if let Source::Constant(bits) = op.from[0] { bits as i16 as i32 as u32 } else { value };
    wave.put_scalar(group, op, op.to, value, doubt);
}

fn move_if(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    if wave.condition_doubt && group.options.undefined {
        return group.stop(wave, op, FaultKind::Undefined { used: "a conditional move" });
    }
    if wave.condition {
        let (value, doubt) = wave.scalar_of(op.from[0]);
        wave.put_scalar(group, op, op.to, value, doubt);
    }
}

// ---- logic, whose doubt is exact bit by bit

fn logic_of(name: &str) -> Option<Spec> {
    Some(match name {
        "s_and_b32" => plain!(Plain, logic, |a, b| a & b),
        "s_or_b32" => plain!(Plain, logic, |a, b| a | b),
        "s_xor_b32" => plain!(Plain, logic, |a, b| a ^ b),
        "s_and_not1_b32" => plain!(Plain, logic, |a, b: u32| a & !b),
        "s_or_not1_b32" => plain!(Plain, logic, |a, b: u32| a | !b),
        "s_nand_b32" => plain!(Plain, logic, |a, b: u32| !(a & b)),
        "s_nor_b32" => plain!(Plain, logic, |a, b: u32| !(a | b)),
        "s_xnor_b32" => plain!(Plain, logic, |a, b: u32| !(a ^ b)),
        "s_not_b32" => plain!(Plain, logic, |a: u32, _| !a),
        _ => return None,
    })
}

/// Bits of the result that undefined bits of the sources can change.
pub fn changeable(a: (u64, u64), b: (u64, u64), f: impl Fn(u64, u64) -> u64) -> u64 {
    if a.1 | b.1 == 0 {
        return 0;
    }
    let (low, high) = ((a.0 & !a.1, b.0 & !b.1), (a.0 | a.1, b.0 | b.1));
    let first = f(low.0, low.1);
    first ^ f(high.0, high.1) | first ^ f(low.0, high.1) | first ^ f(high.0, low.1)
}

fn logic(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32) -> u32) {
    let (a, b) = (wave.scalar_of(op.from[0]), wave.scalar_of(op.from[1]));
    let wide = |pair: (u32, u32)| (u64::from(pair.0), u64::from(pair.1));
    let doubt = changeable(wide(a), wide(b), |a, b| u64::from(f(a as u32, b as u32))) as u32;
    let value = f(a.0, b.0);
    wave.condition = value != 0;
    wave.condition_doubt = doubt != 0 && value & !doubt == 0;
    wave.put_scalar(group, op, op.to, value, doubt);
}

fn save_exec(name: &str) -> Option<Spec> {
    Some(match name {
        "s_and_saveexec_b32" => plain!(Plain, combine_exec, |exec, mask| exec & mask),
        "s_or_saveexec_b32" => plain!(Plain, combine_exec, |exec, mask| exec | mask),
        "s_xor_saveexec_b32" => plain!(Plain, combine_exec, |exec, mask| exec ^ mask),
        "s_and_not1_saveexec_b32" => plain!(Plain, combine_exec, |exec: u64, mask| mask & !exec),
        "s_and_not0_saveexec_b32" => plain!(Plain, combine_exec, |exec, mask: u64| !mask & exec),
        "s_or_not1_saveexec_b32" => plain!(Plain, combine_exec, |exec: u64, mask| mask | !exec),
        "s_or_not0_saveexec_b32" => plain!(Plain, combine_exec, |exec, mask: u64| !mask | exec),
        "s_nand_saveexec_b32" => plain!(Plain, combine_exec, |exec: u64, mask| !(exec & mask)),
        "s_nor_saveexec_b32" => plain!(Plain, combine_exec, |exec: u64, mask| !(exec | mask)),
        "s_xnor_saveexec_b32" => plain!(Plain, combine_exec, |exec: u64, mask| !(exec ^ mask)),
        _ => return None,
    })
}

fn combine_exec(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u64, u64) -> u64) {
    let (mask, mask_doubt) = wave.scalar_of(op.from[0]);
    let exec = wave.exec();
    let pair = (u64::from(mask), u64::from(mask_doubt));
    let doubt = changeable((u64::from(exec), 0), pair, &f) as u32;
    let value = f(u64::from(exec), u64::from(mask)) as u32;
    wave.condition = value != 0;
    wave.condition_doubt = doubt != 0 && value & !doubt == 0;
    wave.put_scalar(group, op, op.to, exec, 0);
    let doubt = if group.options.undefined { doubt } else { 0 };
    wave.put_scalar(group, op, EXEC, value, doubt);
}

// ---- one source

fn single(name: &str) -> Option<Spec> {
    Some(match name {
        "s_mov_b32" => plain!(Plain, one, |a| (a, None), true),
        "s_abs_i32" => plain!(Plain, one, |a| nonzero_of((a as i32).unsigned_abs()), false),
        "s_bcnt0_i32_b32" => plain!(Plain, one, |a: u32| nonzero_of(a.count_zeros()), false),
        "s_bcnt1_i32_b32" => plain!(Plain, one, |a: u32| nonzero_of(a.count_ones()), false),
        "s_brev_b32" => plain!(Plain, one, |a: u32| (a.reverse_bits(), None), false),
        "s_ctz_i32_b32" => {
            plain!(Plain, one, |a: u32| (if a == 0 { !0 } else { a.trailing_zeros() }, None), false)
        }
        "s_clz_i32_u32" => {
            plain!(Plain, one, |a: u32| (if a == 0 { !0 } else { a.leading_zeros() }, None), false)
        }
        "s_cls_i32" => plain!(
            Plain,
            one,
            |a: u32| {
                let differs = a ^ ((a as i32) >> 31) as u32;
                (if differs == 0 { !0 } else { differs.leading_zeros() }, None)
            },
            false
        ),
        "s_sext_i32_i8" => plain!(Plain, one, |a| (a as i8 as i32 as u32, None), false),
        "s_sext_i32_i16" => plain!(Plain, one, |a| (a as i16 as i32 as u32, None), false),
        "s_bitset0_b32" => plain!(Accumulate, set_bit, false),
        "s_bitset1_b32" => plain!(Accumulate, set_bit, true),
        _ => return None,
    })
}

fn nonzero_of(value: u32) -> (u32, Option<bool>) {
    (value, Some(value != 0))
}

/// `copies` keeps the doubt of each bit.
fn one(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    f: impl Fn(u32) -> (u32, Option<bool>),
    copies: bool,
) {
    let (a, doubt) = wave.scalar_of(op.from[0]);
    let (value, condition) = f(a);
    if let Some(condition) = condition {
        wave.condition = condition;
        wave.condition_doubt = doubt != 0;
    }
    wave.put_scalar(group, op, op.to, value, if copies { doubt } else { spread(doubt) });
}

fn set_bit(wave: &mut Wave, group: &mut Group<'_>, op: &Op, to: bool) {
    let ((old, old_doubt), (bit, bit_doubt)) =
        (wave.scalar_of(Source::Scalar(op.to)), wave.scalar_of(op.from[0]));
    let mask = 1 << (bit & 31);
    let value = if to { old | mask } else { old & !mask };
    wave.put_scalar(group, op, op.to, value, if bit_doubt == 0 { old_doubt & !mask } else { !0 });
}

// ---- comparisons

fn comparison(name: &str) -> Option<Spec> {
    Some(match name.strip_prefix("s_cmpk_").or_else(|| name.strip_prefix("s_cmp_")) {
        Some("eq_u32" | "eq_i32") => plain!(Sources, compare, |a, b| a == b),
        Some("lg_u32" | "lg_i32") => plain!(Sources, compare, |a, b| a != b),
        Some("lt_u32") => plain!(Sources, compare, |a, b| a < b),
        Some("le_u32") => plain!(Sources, compare, |a, b| a <= b),
        Some("gt_u32") => plain!(Sources, compare, |a, b| a > b),
        Some("ge_u32") => plain!(Sources, compare, |a, b| a >= b),
        Some("lt_i32") => plain!(Sources, compare, |a, b| (a as i32) < b as i32),
        Some("le_i32") => plain!(Sources, compare, |a, b| a as i32 <= b as i32),
        Some("gt_i32") => plain!(Sources, compare, |a, b| a as i32 > b as i32),
        Some("ge_i32") => plain!(Sources, compare, |a, b| a as i32 >= b as i32),
        Some(rest) => return float_comparison(rest),
        None => match name {
            "s_bitcmp0_b32" => plain!(Sources, compare, |a, b| a >> (b & 31) & 1 == 0),
            "s_bitcmp1_b32" => plain!(Sources, compare, |a, b| a >> (b & 31) & 1 == 1),
            _ => return None,
        },
    })
}

#[allow(clippy::neg_cmp_op_on_partial_ord, reason = "with a NaN, not less is not greater or equal")]
fn float_comparison(rest: &str) -> Option<Spec> {
    Some(match rest {
        "lt_f32" => plain!(Sources, compare, |a, b| float(a) < float(b)),
        "eq_f32" => plain!(Sources, compare, |a, b| float(a) == float(b)),
        "le_f32" => plain!(Sources, compare, |a, b| float(a) <= float(b)),
        "gt_f32" => plain!(Sources, compare, |a, b| float(a) > float(b)),
        "ge_f32" => plain!(Sources, compare, |a, b| float(a) >= float(b)),
        "lg_f32" => plain!(Sources, compare, |a, b| float(a) < float(b) || float(a) > float(b)),
        "neq_f32" => plain!(Sources, compare, |a, b| !(float(a) == float(b))),
        "nlt_f32" => plain!(Sources, compare, |a, b| !(float(a) < float(b))),
        "nle_f32" => plain!(Sources, compare, |a, b| !(float(a) <= float(b))),
        "ngt_f32" => plain!(Sources, compare, |a, b| !(float(a) > float(b))),
        "nge_f32" => plain!(Sources, compare, |a, b| !(float(a) >= float(b))),
        "o_f32" => plain!(Sources, compare, |a, b| !float(a).is_nan() && !float(b).is_nan()),
        "u_f32" => plain!(Sources, compare, |a, b| float(a).is_nan() || float(b).is_nan()),
        _ => return None,
    })
}

fn compare(wave: &mut Wave, _: &mut Group<'_>, op: &Op, test: impl Fn(u32, u32) -> bool) {
    let ((a, a_doubt), (b, b_doubt)) = (wave.scalar_of(op.from[0]), wave.scalar_of(op.from[1]));
    wave.condition = test(a, b);
    wave.condition_doubt = a_doubt | b_doubt != 0;
}

// ---- floats, which gfx11.5 has in scalar registers too

fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn half(bits: u32) -> f32 {
    Half(bits & 0xffff).value()
}

const FLOATS: [Kind; 4] = [Kind::Float; 4];

fn floating(name: &str) -> Option<Spec> {
    Some(match name {
        "s_add_f32" => plain!(Plain, kept, |a, b| (float(a) + float(b)).to_bits()).kinds(FLOATS),
        "s_sub_f32" => plain!(Plain, kept, |a, b| (float(a) - float(b)).to_bits()).kinds(FLOATS),
        "s_mul_f32" => plain!(Plain, kept, |a, b| (float(a) * float(b)).to_bits()).kinds(FLOATS),
        "s_min_f32" => plain!(Plain, kept, |a, b| min(float(a), float(b)).to_bits()).kinds(FLOATS),
        "s_max_f32" => plain!(Plain, kept, |a, b| max(float(a), float(b)).to_bits()).kinds(FLOATS),
        "s_fmac_f32" => plain!(Accumulate, fused),
        "s_fmaak_f32" | "s_fmamk_f32" => plain!(Plain, fused),
        "s_ceil_f32" => plain!(Plain, one, |a| (float(a).ceil().to_bits(), None), false),
        "s_floor_f32" => plain!(Plain, one, |a| (float(a).floor().to_bits(), None), false),
        "s_trunc_f32" => plain!(Plain, one, |a| (float(a).trunc().to_bits(), None), false),
        "s_rndne_f32" => plain!(Plain, one, |a| (float(a).round_ties_even().to_bits(), None), false),
        "s_cvt_f32_u32" => plain!(Plain, one, |a| ((a as f32).to_bits(), None), false),
        "s_cvt_f32_i32" => plain!(Plain, one, |a| ((a as i32 as f32).to_bits(), None), false),
        "s_cvt_u32_f32" => plain!(Plain, one, |a| (float(a) as u32, None), false),
        "s_cvt_i32_f32" => plain!(Plain, one, |a| (float(a) as i32 as u32, None), false),
        "s_cvt_f16_f32" => plain!(Plain, one, |a| (Half::of(float(a)).0, None), false),
        "s_cvt_f32_f16" => plain!(Plain, one, |a| (half(a).to_bits(), None), false),
        "s_cvt_hi_f32_f16" => plain!(Plain, one, |a| (half(a >> 16).to_bits(), None), false),
        "s_cvt_pk_rtz_f16_f32" => plain!(Plain, kept, |a, b| {
            Half::toward_zero(float(a)).0 | Half::toward_zero(float(b)).0 << 16
        }),
        _ => return None,
    })
}

fn fused(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let [a, b, c] = [0, 1, 2].map(|k| wave.scalar_of(op.from[k]));
    let value = float(a.0).mul_add(float(b.0), float(c.0)).to_bits();
    wave.put_scalar(group, op, op.to, value, spread(a.1 | b.1 | c.1));
}
