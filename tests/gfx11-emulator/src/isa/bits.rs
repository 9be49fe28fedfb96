//! Bits: logic, shifts, fields, bytes. Instructions that only move bytes keep the doubt of what they move.

use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::{lane1, lane2, lane3, run};
use crate::lanes::{Kind, Kinds, Lane};
use crate::op::{Op, Source, VCC};
use crate::wave::{LANES, Wave, both, computed};

pub fn find(name: &str) -> Option<Spec> {
    moves(name).or_else(|| logic(name)).or_else(|| shifts(name)).or_else(|| fields(name))
}

fn moves(name: &str) -> Option<Spec> {
    Some(match name {
        "v_mov_b32" => run!(Plain, copy),
        "v_cndmask_b32" => run!(Select, select).kinds([Kind::Float, Kind::Float, Kind::Word, Kind::Word]),
        "v_perm_b32" => run!(Plain, move_bytes, permuted),
        "v_alignbit_b32" => {
            run!(Plain, move_bytes, |a, b, by| ((u64::from(a) << 32 | u64::from(b)) >> (by & 31)) as u32)
        }
        "v_alignbyte_b32" => {
            run!(Plain, move_bytes, |a, b, by| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (by & 3))) as u32)
        }
        "v_swap_b32" => run!(Plain, swap),
        _ => return None,
    })
}

#[inline(always)]
fn copy(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let (words, doubt, writable) = (wave.words(op, 0), wave.doubt(op, 0, 0), wave.writable(op));
    wave.put(op.to, &words, doubt, writable);
}

fn swap(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let Source::Vector(other) = op.from[0] else { return };
    let (to, exec) = (op.to, wave.exec());
    let (first, first_doubt) = (wave.vector[to as usize], wave.vector_doubt[to as usize]);
    let (second, second_doubt) = (wave.vector[other as usize], wave.vector_doubt[other as usize]);
    wave.put(to, &second, second_doubt, exec);
    wave.put(other, &first, first_doubt, exec);
}

/// The second source where the mask's bit is set. Only the chosen value's doubt counts.
#[inline(always)]
fn select(wave: &mut Wave, _: &mut Group<'_>, op: &Op) {
    let mask = if op.from[2] == Source::Absent { Source::Scalar(VCC) } else { op.from[2] };
    let (mask, mask_doubt) = wave.scalar_of(mask);
    let (first, second) = (f32::fetch(wave, op, 0), f32::fetch(wave, op, 1));
    let mut results = [0; LANES];
    for lane in 0..LANES {
        results[lane] = if mask >> lane & 1 == 1 { second[lane].to_bits() } else { first[lane].to_bits() };
    }
    let chosen = both(mask);
    let doubt = wave.doubt(op, 0, 0) & !chosen | wave.doubt(op, 1, 0) & chosen | both(mask_doubt);
    let writable = wave.writable(op);
    wave.put(op.to, &results, doubt, writable);
}

#[inline(always)]
fn move_bytes(wave: &mut Wave, _: &mut Group<'_>, op: &Op, f: impl Fn(u32, u32, u32) -> u32) {
    let doubt = wave.doubt(op, 0, 0) | wave.doubt(op, 1, 0) | wave.doubt(op, 2, 0);
    let (a, b, c) = (wave.words(op, 0), wave.words(op, 1), wave.words(op, 2));
    let mut results = [0; LANES];
    for lane in 0..LANES {
        results[lane] = f(a[lane], b[lane], c[lane]);
    }
    let writable = wave.writable(op);
    wave.put(op.to, &results, doubt, writable);
}

/// Each byte of the selector names a byte of `a:b`, a sign or a constant.
#[inline(always)]
fn permuted(a: u32, b: u32, selector: u32) -> u32 {
    let all = u64::from(a) << 32 | u64::from(b);
    let byte = |select: u32| match select {
        0..=7 => (all >> (8 * select)) as u32 & 255,
        // Signs of the four halves.
        8..=11 => {
            if all >> (16 * (select - 8) + 15) & 1 == 1 {
                255
            } else {
                0
            }
        }
        12 => 0,
        _ => 255,
    };
    (0..4).fold(0, |word, k| word | byte(selector >> (8 * k) & 255) << (8 * k))
}

fn logic(name: &str) -> Option<Spec> {
    Some(match name {
        "v_not_b32" => lane1!(|a: u32| !a),
        "v_and_b32" => lane2!(|a: u32, b: u32| a & b),
        "v_or_b32" => lane2!(|a: u32, b: u32| a | b),
        "v_xor_b32" => lane2!(|a: u32, b: u32| a ^ b),
        "v_xnor_b32" => lane2!(|a: u32, b: u32| !(a ^ b)),
        "v_and_or_b32" => lane3!(|a: u32, b: u32, c: u32| a & b | c),
        "v_or3_b32" => lane3!(|a: u32, b: u32, c: u32| a | b | c),
        "v_xor3_b32" => lane3!(|a: u32, b: u32, c: u32| a ^ b ^ c),
        "v_lshl_or_b32" => lane3!(|a: u32, b: u32, c: u32| a << (b & 31) | c),
        _ => return None,
    })
}

fn shifts(name: &str) -> Option<Spec> {
    Some(match name {
        "v_lshlrev_b32" => lane2!(|a: u32, b: u32| b << (a & 31)),
        "v_lshrrev_b32" => lane2!(|a: u32, b: u32| b >> (a & 31)),
        "v_ashrrev_i32" => lane2!(|a: u32, b: i32| b >> (a & 31)),
        "v_lshlrev_b64" => run!(Plain, shift_long, |by, a| a << by, 0).kinds(SHIFT),
        "v_lshrrev_b64" => run!(Plain, shift_long, |by, a| a >> by, 1).kinds(SHIFT),
        "v_ashrrev_i64" => run!(Plain, shift_long, |by, a| ((a as i64) >> by) as u64, 1).kinds(SHIFT),
        _ => return None,
    })
}

const SHIFT: Kinds = [Kind::Word, Kind::Long, Kind::Word, Kind::Long];

/// Word `alone` of the result depends on the same word of the source only: a shift to the left never brings the high one down.
#[inline(always)]
fn shift_long(wave: &mut Wave, _: &mut Group<'_>, op: &Op, f: impl Fn(u32, u64) -> u64, alone: u8) {
    let by_doubt = wave.doubt(op, 0, 0);
    let alone_doubt = computed(by_doubt | wave.doubt_of(op.from[1], alone));
    let other_doubt = computed(alone_doubt | wave.doubt_of(op.from[1], 1 - alone));
    let (by, a) = (wave.words(op, 0), u64::fetch(wave, op, 1));
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        let shifted = f(by[lane] & 63, a[lane]);
        low[lane] = shifted as u32;
        high[lane] = (shifted >> 32) as u32;
    }
    let exec = wave.exec();
    let (low_doubt, high_doubt) =
        if alone == 0 { (alone_doubt, other_doubt) } else { (other_doubt, alone_doubt) };
    wave.put(op.to, &low, low_doubt, exec);
    wave.put(op.to.wrapping_add(1), &high, high_doubt, exec);
}

fn fields(name: &str) -> Option<Spec> {
    Some(match name {
        "v_bfe_u32" => lane3!(|a: u32, b: u32, c: u32| a >> (b & 31) & ((1u32 << (c & 31)) - 1)),
        "v_bfe_i32" => lane3!(|a: i32, b: u32, c: u32| {
            let width = c & 31;
            let field = a >> (b & 31);
            if width == 0 { 0 } else { field << (32 - width) >> (32 - width) }
        }),
        "v_bfi_b32" => lane3!(|a: u32, b: u32, c: u32| a & b | !a & c),
        "v_bfm_b32" => lane2!(|a: u32, b: u32| ((1u32 << (a & 31)) - 1) << (b & 31)),
        "v_bfrev_b32" => lane1!(|a: u32| a.reverse_bits()),
        "v_bcnt_u32_b32" => lane2!(|a: u32, b: u32| a.count_ones().wrapping_add(b)),
        // Position of the first set bit from the top, from the bottom, and of the first that differs from the sign.
        "v_clz_i32_u32" | "v_ffbh_u32" => lane1!(|a: u32| if a == 0 { !0 } else { a.leading_zeros() }),
        "v_ctz_i32_b32" | "v_ffbl_b32" => lane1!(|a: u32| if a == 0 { !0 } else { a.trailing_zeros() }),
        "v_cls_i32" | "v_ffbh_i32" => lane1!(|a: u32| {
            let differs = a ^ ((a as i32) >> 31) as u32;
            if differs == 0 { !0 } else { differs.leading_zeros() }
        }),
        "v_mbcnt_lo_u32_b32" => run!(Plain, count_below, |lane| (1u32 << lane) - 1),
        // All 32 lanes of a wave lie below its upper half, which is empty.
        "v_mbcnt_hi_u32_b32" => run!(Plain, count_below, |_| 0),
        _ => return None,
    })
}

/// Bits of the mask that belong to lower lanes, plus the second source.
#[inline(always)]
fn count_below(wave: &mut Wave, _: &mut Group<'_>, op: &Op, below: impl Fn(usize) -> u32) {
    let doubt = wave.doubt(op, 0, 0) | wave.doubt(op, 1, 0);
    let (mask, start) = (wave.words(op, 0), wave.words(op, 1));
    let mut results = [0; LANES];
    for lane in 0..LANES {
        results[lane] = (mask[lane] & below(lane)).count_ones().wrapping_add(start[lane]);
    }
    let writable = wave.writable(op);
    wave.put(op.to, &results, computed(doubt), writable);
}
