//! Scalar arithmetic on pairs of registers.

use crate::group::Group;
use crate::isa::Spec;
use crate::isa::scalar::changeable;
use crate::isa::spec::plain;
use crate::lanes::Kind;
use crate::op::Op;
use crate::wave::Wave;

const LONG: [Kind; 4] = [Kind::Long; 4];
/// The second source is 32 bits wide: a number of places.
const SHIFTED: [Kind; 4] = [Kind::Long, Kind::Word, Kind::Word, Kind::Long];

pub fn find(name: &str) -> Option<Spec> {
    Some(match name {
        "s_mov_b64" => plain!(Plain, copy).kinds(LONG),
        "s_cselect_b64" => plain!(Plain, select).kinds(LONG),
        "s_and_b64" => plain!(Plain, logic, |a, b| a & b).kinds(LONG),
        "s_or_b64" => plain!(Plain, logic, |a, b| a | b).kinds(LONG),
        "s_xor_b64" => plain!(Plain, logic, |a, b| a ^ b).kinds(LONG),
        "s_and_not1_b64" => plain!(Plain, logic, |a, b: u64| a & !b).kinds(LONG),
        "s_or_not1_b64" => plain!(Plain, logic, |a, b: u64| a | !b).kinds(LONG),
        "s_nand_b64" => plain!(Plain, logic, |a, b: u64| !(a & b)).kinds(LONG),
        "s_nor_b64" => plain!(Plain, logic, |a, b: u64| !(a | b)).kinds(LONG),
        "s_xnor_b64" => plain!(Plain, logic, |a, b: u64| !(a ^ b)).kinds(LONG),
        "s_not_b64" => plain!(Plain, logic, |a: u64, _| !a).kinds(LONG),
        "s_lshl_b64" => plain!(Plain, shift, |a, by| a << by).kinds(SHIFTED),
        "s_lshr_b64" => plain!(Plain, shift, |a, by| a >> by).kinds(SHIFTED),
        "s_ashr_i64" => plain!(Plain, shift, |a, by| ((a as i64) >> by) as u64).kinds(SHIFTED),
        "s_bfm_b64" => plain!(Plain, mask),
        "s_bfe_u64" => plain!(Plain, field, false).kinds(SHIFTED),
        "s_bfe_i64" => plain!(Plain, field, true).kinds(SHIFTED),
        "s_brev_b64" => plain!(Plain, reverse).kinds(LONG),
        "s_cmp_eq_u64" => plain!(Sources, compare, |a, b| a == b).kinds(LONG),
        "s_cmp_lg_u64" => plain!(Sources, compare, |a, b| a != b).kinds(LONG),
        "s_bcnt1_i32_b64" => plain!(Plain, count, |a: u64| (a.count_ones(), Some(a != 0))).kinds(LONG),
        "s_ctz_i32_b64" => {
            plain!(Plain, count, |a: u64| (if a == 0 { !0 } else { a.trailing_zeros() }, None)).kinds(LONG)
        }
        "s_clz_i32_u64" => {
            plain!(Plain, count, |a: u64| (if a == 0 { !0 } else { a.leading_zeros() }, None)).kinds(LONG)
        }
        _ => return None,
    })
}

fn spread(doubt: u64) -> u64 {
    if doubt == 0 { 0 } else { !0 }
}

fn copy(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let (value, doubt) = wave.scalar_pair_of(op.from[0]);
    wave.put_scalar_pair(group, op, op.to, value, doubt);
}

fn select(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let (value, doubt) = wave.scalar_pair_of(if wave.condition { op.from[0] } else { op.from[1] });
    let doubt = if wave.condition_doubt { !0 } else { doubt };
    wave.put_scalar_pair(group, op, op.to, value, doubt);
}

fn logic(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u64, u64) -> u64) {
    let (a, b) = (wave.scalar_pair_of(op.from[0]), wave.scalar_pair_of(op.from[1]));
    let (value, doubt) = (f(a.0, b.0), changeable(a, b, &f));
    wave.condition = value != 0;
    wave.condition_doubt = doubt != 0 && value & !doubt == 0;
    wave.put_scalar_pair(group, op, op.to, value, doubt);
}

fn shift(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u64, u32) -> u64) {
    let ((a, a_doubt), (by, by_doubt)) = (wave.scalar_pair_of(op.from[0]), wave.scalar_of(op.from[1]));
    let value = f(a, by & 63);
    // What is undefined moves along.
    let doubt = if by_doubt == 0 { f(a_doubt, by & 63) } else { !0 };
    wave.condition = value != 0;
    wave.condition_doubt = doubt != 0 && value & !doubt == 0;
    wave.put_scalar_pair(group, op, op.to, value, doubt);
}

fn mask(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let ((width, width_doubt), (at, at_doubt)) = (wave.scalar_of(op.from[0]), wave.scalar_of(op.from[1]));
    let value = ((1u64 << (width & 63)) - 1) << (at & 63);
    wave.put_scalar_pair(group, op, op.to, value, spread(u64::from(width_doubt | at_doubt)));
}

/// Offset in the low six bits of the second source, width from bit 16.
fn field(wave: &mut Wave, group: &mut Group<'_>, op: &Op, is_signed: bool) {
    let ((a, a_doubt), (b, b_doubt)) = (wave.scalar_pair_of(op.from[0]), wave.scalar_of(op.from[1]));
    let (offset, width) = (b & 63, (b >> 16 & 127).min(64));
    let unused = 64 - width;
    let value = if width == 0 {
        0
    } else if is_signed {
        (((a >> offset) << unused) as i64 >> unused) as u64
    } else {
        (a >> offset) << unused >> unused
    };
    let doubt = spread(a_doubt | u64::from(b_doubt));
    wave.condition = value != 0;
    wave.condition_doubt = doubt != 0;
    wave.put_scalar_pair(group, op, op.to, value, doubt);
}

fn reverse(wave: &mut Wave, group: &mut Group<'_>, op: &Op) {
    let (a, doubt) = wave.scalar_pair_of(op.from[0]);
    wave.put_scalar_pair(group, op, op.to, a.reverse_bits(), doubt.reverse_bits());
}

fn compare(wave: &mut Wave, _: &mut Group<'_>, op: &Op, test: impl Fn(u64, u64) -> bool) {
    let ((a, a_doubt), (b, b_doubt)) = (wave.scalar_pair_of(op.from[0]), wave.scalar_pair_of(op.from[1]));
    wave.condition = test(a, b);
    wave.condition_doubt = a_doubt | b_doubt != 0;
}

fn count(wave: &mut Wave, group: &mut Group<'_>, op: &Op, f: impl Fn(u64) -> (u32, Option<bool>)) {
    let (a, doubt) = wave.scalar_pair_of(op.from[0]);
    let (value, condition) = f(a);
    if let Some(condition) = condition {
        wave.condition = condition;
        wave.condition_doubt = doubt != 0;
    }
    wave.put_scalar(group, op, op.to, value, spread(doubt) as u32);
}
