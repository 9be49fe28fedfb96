//! Arithmetic on two halves a lane: `v_pk`.

use crate::float::{Half, max, min};
use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::run;
use crate::lanes::Kind;
use crate::op::Op;
use crate::wave::{LANES, Wave, computed};

pub fn find(name: &str) -> Option<Spec> {
    floats(name).or_else(|| integers(name))
}

macro_rules! packed {
    ($helper:ident, $kind:ident, $f:expr) => {
        run!(Plain, $helper, $f).kinds([Kind::$kind; 4])
    };
}

fn half(bits: u32) -> f32 {
    Half(bits).value()
}

fn floats(name: &str) -> Option<Spec> {
    Some(match name {
        "v_pk_add_f16" => packed!(two, Packed, |a, b| Half::of(half(a) + half(b)).0),
        "v_pk_mul_f16" => packed!(two, Packed, |a, b| Half::of(half(a) * half(b)).0),
        "v_pk_max_f16" => packed!(two, Packed, |a, b| Half::of(max(half(a), half(b))).0),
        "v_pk_min_f16" => packed!(two, Packed, |a, b| Half::of(min(half(a), half(b))).0),
        "v_pk_fma_f16" => packed!(three, Packed, |a, b, c| Half::fused(Half(a), Half(b), Half(c)).0),
        "v_pk_fmac_f16" => run!(Accumulate, three, |a, b, c| Half::fused(Half(a), Half(b), Half(c)).0)
            .kinds([Kind::Packed; 4]),
        _ => return None,
    })
}

fn integers(name: &str) -> Option<Spec> {
    Some(match name {
        "v_pk_add_u16" | "v_pk_add_i16" => packed!(two, PackedShort, |a, b| a.wrapping_add(b)),
        "v_pk_sub_u16" | "v_pk_sub_i16" => packed!(two, PackedShort, |a, b| a.wrapping_sub(b)),
        "v_pk_add_u16 clamp" => packed!(two, PackedShort, |a, b| (a + b).min(0xffff)),
        "v_pk_sub_u16 clamp" => packed!(two, PackedShort, |a, b| a.saturating_sub(b)),
        "v_pk_add_i16 clamp" => packed!(two, PackedShort, |a, b| signed(a).saturating_add(signed(b)) as u32),
        "v_pk_sub_i16 clamp" => packed!(two, PackedShort, |a, b| signed(a).saturating_sub(signed(b)) as u32),
        "v_pk_mul_lo_u16" => packed!(two, PackedShort, |a, b| a.wrapping_mul(b)),
        "v_pk_min_u16" => packed!(two, PackedShort, |a, b| a.min(b)),
        "v_pk_max_u16" => packed!(two, PackedShort, |a, b| a.max(b)),
        "v_pk_min_i16" => packed!(two, PackedShort, |a, b| signed(a).min(signed(b)) as u32),
        "v_pk_max_i16" => packed!(two, PackedShort, |a, b| signed(a).max(signed(b)) as u32),
        "v_pk_lshlrev_b16" => packed!(two, PackedShort, |a, b| b << (a & 15)),
        "v_pk_lshrrev_b16" => packed!(two, PackedShort, |a, b| b >> (a & 15)),
        "v_pk_ashrrev_i16" => packed!(two, PackedShort, |a, b| (signed(b) >> (a & 15)) as u32),
        "v_pk_mad_u16" | "v_pk_mad_i16" => {
            packed!(three, PackedShort, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
        }
        _ => return None,
    })
}

fn signed(bits: u32) -> i16 {
    bits as i16
}

/// Two numbers a lane: those for the low results, then those for the high ones. One array, so that the text has one call of each
/// closure; of two the compiler would make a function.
type Pairs = [u32; 2 * LANES];

/// The halves of source `k`, with their signs.
#[inline(always)]
fn halves(wave: &Wave, op: &Op, k: usize) -> Pairs {
    let words = wave.words(op, k);
    let mut pairs = [0; 2 * LANES];
    let (low, high) = pairs.split_at_mut(LANES);
    for (part, select, negate) in [(low, op.select, op.negate), (high, op.select_high, op.negate_high)] {
        let shift = if select >> k & 1 == 1 { 16 } else { 0 };
        let sign = if negate >> k & 1 == 1 { 0x8000 } else { 0 };
        for lane in 0..LANES {
            part[lane] = (words[lane] >> shift) & 0xffff ^ sign;
        }
    }
    pairs
}

#[inline(always)]
fn two(wave: &mut Wave, _: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32) -> u32) {
    let doubt = wave.doubt(op, 0, 0) | wave.doubt(op, 1, 0);
    let (a, b) = (halves(wave, op, 0), halves(wave, op, 1));
    let mut results = [0; 2 * LANES];
    for k in 0..2 * LANES {
        results[k] = f(a[k], b[k]);
    }
    store(wave, op, &results, doubt);
}

#[inline(always)]
fn three(wave: &mut Wave, _: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32, u32) -> u32) {
    let doubt = wave.doubt(op, 0, 0) | wave.doubt(op, 1, 0) | wave.doubt(op, 2, 0);
    let (a, b, c) = (halves(wave, op, 0), halves(wave, op, 1), halves(wave, op, 2));
    let mut results = [0; 2 * LANES];
    for k in 0..2 * LANES {
        results[k] = f(a[k], b[k], c[k]);
    }
    store(wave, op, &results, doubt);
}

#[inline(always)]
fn store(wave: &mut Wave, op: &Op, results: &Pairs, doubt: u64) {
    let mut words = [0; LANES];
    for lane in 0..LANES {
        words[lane] = results[lane] & 0xffff | results[LANES + lane] << 16;
    }
    if op.clamp {
        for word in &mut words {
            *word = Half(*word & 0xffff).clamped().0 | Half(*word >> 16).clamped().0 << 16;
        }
    }
    let writable = wave.writable(op);
    wave.put(op.to, &words, computed(doubt), writable);
}
