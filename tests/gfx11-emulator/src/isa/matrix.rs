//! Matrix products of a whole wave: WMMA, 16 x 16 x 16.
//!
//! Lane `l` holds row (of A) or column (of B) `l & 15`, sixteen elements in consecutive registers, and lanes 16..31 repeat lanes
//! 0..15. Element `e` of the accumulator in lane `l` is row `2e + l / 16`, column `l & 15`. Sums run in the order of k, in f32.

use crate::fault::FaultKind;
use crate::float::{Half, from_bfloat};
use crate::group::Group;
use crate::isa::Spec;
use crate::isa::spec::run;
use crate::op::{Op, Source};
use crate::wave::{LANES, Lanes, Wave, both, computed};

type Tile<T> = [[T; 16]; 16];

pub fn find(name: &str) -> Option<Spec> {
    Some(match name {
        "v_wmma_f32_16x16x16_f16" => run!(Plain, to_float, |bits| Half(bits).value()),
        "v_wmma_f32_16x16x16_bf16" => run!(Plain, to_float, from_bfloat),
        "v_wmma_f16_16x16x16_f16" => {
            run!(Plain, to_half, (|bits| Half(bits).value(), |value| Half::of(value).0)).with_select()
        }
        "v_wmma_bf16_16x16x16_bf16" => run!(Plain, to_half, (from_bfloat, to_bfloat)).with_select(),
        "v_wmma_i32_16x16x16_iu8" => run!(Plain, to_integer::<8>, false).with_signs(),
        "v_wmma_i32_16x16x16_iu8 clamp" => run!(Plain, to_integer::<8>, true).with_signs(),
        "v_wmma_i32_16x16x16_iu4" => run!(Plain, to_integer::<4>, false).with_signs(),
        "v_wmma_i32_16x16x16_iu4 clamp" => run!(Plain, to_integer::<4>, true).with_signs(),
        _ => return None,
    })
}

#[inline(always)]
fn to_bfloat(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_nan() { bits >> 16 | 0x40 } else { (bits + 0x7fff + (bits >> 16 & 1)) >> 16 }
}

/// What is doubtful of a source: one bit for each row or column.
fn lines_in_doubt(wave: &Wave, source: Source, words: u8) -> u32 {
    let doubt = (0..words).fold(0, |doubt, word| doubt | wave.doubt_of(source, word));
    let lanes = doubt as u32 | (doubt >> 32) as u32;
    (lanes | lanes >> 16) & 0xffff
}

/// `tile[k][line]`, with `words` registers that hold several elements each. `None` when the wave was stopped.
#[inline(always)]
fn fragment<T: Copy>(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    (source, words): (usize, u8),
    element: impl Fn(u32, usize) -> T,
) -> Option<Tile<T>> {
    let each = 16 / usize::from(words);
    let first = wave.lanes_of(op.from[source], 0);
    let mut tile = [[element(first[0], 0); 16]; 16];
    for word in 0..words {
        let lanes = wave.lanes_of(op.from[source], word);
        let (low, high) = lanes.split_at(16);
        if low != high {
            let Source::Vector(register) = op.from[source] else { return None };
            let register = usize::from(register) + usize::from(word);
            group.stop(wave, op, FaultKind::NotRepeated { register });
            return None;
        }
        for part in 0..each {
            let row = &mut tile[usize::from(word) * each + part];
            for line in 0..16 {
                row[line] = element(lanes[line], part);
            }
        }
    }
    Some(tile)
}

/// Checks that hold for all forms.
#[inline(always)]
fn is_whole(wave: &mut Wave, group: &mut Group<'_>, op: &Op) -> bool {
    let exec = wave.exec();
    if exec != !0 {
        group.stop(wave, op, FaultKind::LanesMaskedOff { exec });
    }
    exec == !0
}

/// The doubt of accumulator element `e`.
#[inline(always)]
fn element_doubt(wave: &Wave, op: &Op, (rows, columns): (u32, u32), e: u8) -> u64 {
    let lanes = |row: u8| if rows >> row & 1 == 1 { 0xffff } else { columns };
    computed(wave.doubt_of(op.from[2], e) | both(lanes(2 * e) | lanes(2 * e + 1) << 16))
}

/// `initial(row-pair e)` gives the accumulator's lanes; the results come in the same layout.
#[inline(always)]
fn multiply(a: &Tile<f32>, b: &Tile<f32>, initial: impl Fn(u8) -> [f32; LANES]) -> [[f32; LANES]; 8] {
    let mut results = [[0.0; LANES]; 8];
    for (e, result) in results.iter_mut().enumerate() {
        let mut sums = initial(e as u8);
        let (upper, lower) = sums.split_at_mut(16);
        for k in 0..16 {
            let (first, second) = (a[k][2 * e], a[k][2 * e + 1]);
            for column in 0..16 {
                upper[column] = first.mul_add(b[k][column], upper[column]);
                lower[column] = second.mul_add(b[k][column], lower[column]);
            }
        }
        *result = sums;
    }
    results
}

#[inline(always)]
fn to_float(wave: &mut Wave, group: &mut Group<'_>, op: &Op, value: impl Fn(u32) -> f32) {
    let element = |word: u32, part: usize| value(word >> (16 * part) & 0xffff);
    if !is_whole(wave, group, op) {
        return;
    }
    let doubt = (lines_in_doubt(wave, op.from[0], 8), lines_in_doubt(wave, op.from[1], 8));
    let Some(a) = fragment(wave, group, op, (0, 8), element) else { return };
    let Some(b) = fragment(wave, group, op, (1, 8), element) else { return };
    let results = multiply(&a, &b, |e| {
        let words = wave.lanes_of(op.from[2], e);
        let mut values = [0.0; LANES];
        for lane in 0..LANES {
            values[lane] = f32::from_bits(words[lane]);
        }
        values
    });
    let doubts: [u64; 8] = std::array::from_fn(|e| element_doubt(wave, op, doubt, e as u8));
    for (e, result) in results.iter().enumerate() {
        let mut words = [0; LANES];
        for lane in 0..LANES {
            words[lane] = result[lane].to_bits();
        }
        wave.put(op.to + e as u8, &words, doubts[e], !0);
    }
}

/// The accumulator is one half of each register, as bit 2 of `op_sel` says; the other half stays.
#[inline(always)]
fn to_half(
    wave: &mut Wave,
    group: &mut Group<'_>,
    op: &Op,
    (value, bits): (impl Fn(u32) -> f32, impl Fn(f32) -> u32),
) {
    let element = |word: u32, part: usize| value(word >> (16 * part) & 0xffff);
    if !is_whole(wave, group, op) {
        return;
    }
    let doubt = (lines_in_doubt(wave, op.from[0], 8), lines_in_doubt(wave, op.from[1], 8));
    let Some(a) = fragment(wave, group, op, (0, 8), element) else { return };
    let Some(b) = fragment(wave, group, op, (1, 8), element) else { return };
    let shift = if op.select & 4 != 0 { 16 } else { 0 };
    let results = multiply(&a, &b, |e| {
        let words = wave.lanes_of(op.from[2], e);
        std::array::from_fn(|lane| value(words[lane] >> shift & 0xffff))
    });
    let doubts: [u64; 8] = std::array::from_fn(|e| element_doubt(wave, op, doubt, e as u8));
    for (e, result) in results.iter().enumerate() {
        let old = wave.vector[usize::from(op.to) + e];
        let words: Lanes =
            std::array::from_fn(|lane| old[lane] & !(0xffff << shift) | bits(result[lane]) << shift);
        wave.put(op.to + e as u8, &words, doubts[e], !0);
    }
}

/// `BITS` bits an element; `neg_lo` says which source is signed.
#[inline(always)]
fn to_integer<const BITS: usize>(wave: &mut Wave, group: &mut Group<'_>, op: &Op, saturates: bool) {
    if !is_whole(wave, group, op) {
        return;
    }
    let words = (16 * BITS / 32) as u8;
    let doubt = (lines_in_doubt(wave, op.from[0], words), lines_in_doubt(wave, op.from[1], words));
    let element = |is_signed: bool| {
        move |word: u32, part: usize| {
            let top = word << (32 - BITS - BITS * part);
            if is_signed { top as i32 >> (32 - BITS) } else { (top >> (32 - BITS)) as i32 }
        }
    };
    let (signed_a, signed_b) = (op.negate & 1 == 1, op.negate >> 1 & 1 == 1);
    let Some(a) = fragment(wave, group, op, (0, words), element(signed_a)) else { return };
    let Some(b) = fragment(wave, group, op, (1, words), element(signed_b)) else { return };
    let doubts: [u64; 8] = std::array::from_fn(|e| element_doubt(wave, op, doubt, e as u8));
    let mut results = [[0; LANES]; 8];
    for (e, result) in results.iter_mut().enumerate() {
        let mut sums = [0i32; LANES];
        let (upper, lower) = sums.split_at_mut(16);
        for k in 0..16 {
            for column in 0..16 {
                upper[column] += a[k][2 * e] * b[k][column];
                lower[column] += a[k][2 * e + 1] * b[k][column];
            }
        }
        let start = wave.lanes_of(op.from[2], e as u8);
        for lane in 0..LANES {
            let start = start[lane] as i32;
            let sum =
                if saturates { start.saturating_add(sums[lane]) } else { start.wrapping_add(sums[lane]) };
            result[lane] = sum as u32;
        }
    }
    for (e, words) in results.iter().enumerate() {
        wave.put(op.to + e as u8, words, doubts[e], !0);
    }
}
