//! Fused multiply-add whose sources are f32 or halves: `v_fma_mix`.
//!
//! `op_sel_hi` says that a source is a half, `op_sel` which one.

use crate::float::Half;
use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::run;
use crate::lanes::{Kind, Lane, store_half};
use crate::op::Op;
use crate::wave::{LANES, Wave, computed};

const KINDS: [Kind; 4] = [Kind::Mixed, Kind::Mixed, Kind::Mixed, Kind::Float];

pub fn find(name: &str) -> Option<Spec> {
    Some(match name {
        "v_fma_mix_f32" => run!(Plain, to_float).kinds(KINDS),
        "v_fma_mixlo_f16" => run!(Plain, to_half, false).kinds(KINDS),
        "v_fma_mixhi_f16" => run!(Plain, to_half, true).kinds(KINDS),
        _ => return None,
    })
}

#[inline(always)]
fn source(wave: &Wave, op: &Op, k: usize) -> [f32; LANES] {
    let words = wave.words(op, k);
    let (is_half, shift) = (op.select_high >> k & 1 == 1, if op.select >> k & 1 == 1 { 16 } else { 0 });
    let (absolute, negate) = (op.absolute >> k & 1 == 1, op.negate >> k & 1 == 1);
    let mut values = [0.0; LANES];
    for lane in 0..LANES {
        let word = words[lane];
        let value = if is_half { Half(word >> shift & 0xffff).value() } else { f32::from_bits(word) };
        let value = if absolute { value.abs() } else { value };
        values[lane] = if negate { -value } else { value };
    }
    values
}

#[inline(always)]
fn products(wave: &Wave, op: &Op) -> ([[f32; LANES]; 3], u64) {
    let doubt = wave.doubt(op, 0, 0) | wave.doubt(op, 1, 0) | wave.doubt(op, 2, 0);
    ([source(wave, op, 0), source(wave, op, 1), source(wave, op, 2)], computed(doubt))
}

#[inline(always)]
fn to_float(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let ([a, b, c], doubt) = products(wave, op);
    let mut results = [0.0; LANES];
    for lane in 0..LANES {
        results[lane] = a[lane].mul_add(b[lane], c[lane]);
    }
    f32::store(wave, op, results, doubt);
}

#[inline(always)]
fn to_half(wave: &mut Wave, _: &mut Group<'_>, op: &Op, high: bool) {
    let ([a, b, c], doubt) = products(wave, op);
    let mut results = [0; LANES];
    for lane in 0..LANES {
        // Rounded once to f32's precision and once to a half's: what the unit does, by its name "mix".
        let sum = Half::of(a[lane].mul_add(b[lane], c[lane]));
        results[lane] = if op.clamp { sum.clamped().0 } else { sum.0 };
    }
    store_half(wave, op, high, results, doubt);
}
