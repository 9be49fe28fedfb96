//! Both ways of computing units against rows one by one, over more spans than the property tests reach.

use super::{Attention, Run, SPAN, Unit};
use crate::job::{Job, ScratchPlan, Worker};
use crate::memory::Memory;
use crate::simd::{Level, Simd};
use crate::view::View;
use half::f16;
use weft_core::graph::{DType, Layout};
use weft_core::quant::encode_row;
use weft_core::segment::Segment;

/// A view of floats or halves, with its memory.
fn view(name: &'static str, dtype: DType, shape: [u64; 4], bytes: &mut [u8]) -> View {
    let layout = Layout::packed(dtype, shape).unwrap();
    assert!(layout.bytes() <= bytes.len() as u64);
    View { name, base: bytes.as_mut_ptr(), bytes: bytes.len(), layout }
}

fn noise(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn bytes(values: &[f32], dtype: DType) -> Vec<u8> {
    match dtype {
        DType::F32 => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
        DType::F16 => values.iter().flat_map(|v| f16::from_f32(*v).to_le_bytes()).collect(),
        _ => {
            let mut bytes = vec![0; dtype.row_bytes(values.len() as u64).unwrap() as usize];
            encode_row(dtype, values, &mut bytes).unwrap();
            bytes
        }
    }
}

/// What is attended to: heads, their key/value heads, sizes, tokens behind a position.
struct Case {
    heads: u64,
    groups: u64,
    dim: u64,
    width: u64,
    dtype: DType,
    position: usize,
    tokens: usize,
    poison: bool,
}

/// Results of a case by so many workers, or by rows one by one.
fn run(case: &Case, simd: Simd, workers: usize, single: bool) -> Vec<f32> {
    let Case { heads, groups, dim, width, dtype, position, tokens, poison } = *case;
    let cells = (position + tokens + 70) as u64;
    let rows = tokens as u64;
    let cache = |size: u64, seed| {
        let mut values = noise((size * cells * groups) as usize, seed);
        for (at, value) in values.iter_mut().enumerate() {
            let cell = at as u64 / size % cells;
            if poison && (cell == 1 || cell >= position as u64 + rows) {
                *value = f32::NAN;
            }
        }
        bytes(&values, dtype)
    };
    let (mut k, mut v) = (cache(dim, 1), cache(width, 2));
    let mut q = bytes(&noise((dim * rows * heads) as usize, 3), DType::F32);
    let mut mask = noise((cells * rows) as usize, 4);
    mask.iter_mut().skip(1).step_by(cells as usize).for_each(|bias| *bias = f32::NEG_INFINITY);
    mask[..cells as usize].fill(f32::NEG_INFINITY);
    let mut mask = bytes(&mask, DType::F32);
    let mut sinks = bytes(&noise(heads as usize, 5), DType::F32);
    let words = Segment { count: tokens as u32, position: position as u32, ..Segment::default() }.words();
    let mut table: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut out = vec![0xff; (width * heads * rows * 4) as usize];
    let mut attention = Attention {
        simd,
        scale: 0.3,
        group: (heads / groups) as usize,
        q: view("q", DType::F32, [dim, rows, heads, 1], &mut q),
        k: view("k", dtype, [dim, cells, groups, 1], &mut k),
        v: view("v", dtype, [width, cells, groups, 1], &mut v),
        mask: poison.then(|| view("mask", DType::F32, [cells, rows, 1, 1], &mut mask)),
        sinks: (heads > 2).then(|| view("sinks", DType::F32, [heads, 1, 1, 1], &mut sinks)),
        segments: Some(view("segments", DType::I32, [8, 1, 1, 1], &mut table)),
        out: view("out", DType::F32, [width, heads, rows, 1], &mut out),
        shared: None,
    };
    let mut scratch = ScratchPlan::new();
    if attention.wants_sharing(workers) {
        attention.shared = Some(scratch.take(attention.shared_bytes()));
    }
    assert!(scratch.pool.0.set(Memory::zeroed("scratch", scratch.peak as u64).unwrap()).is_ok());
    if single {
        let run = Run { first: 0, count: tokens, sequence: 0, cache: 0, position: Some(position) };
        let mut scores = vec![0.0; cells as usize + attention.unpacked()];
        for head in 0..groups as usize {
            let unit = Unit { run, first: 0, tokens, head };
            (0..tokens * attention.group)
                .for_each(|row| attention.attend(&attention.place(&unit, row), &mut scores));
        }
    } else {
        for stage in 0..attention.stages() {
            for index in 0..workers {
                attention.run(stage, &mut Worker { index, count: workers, ..Worker::default() }).unwrap();
            }
        }
    }
    out.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

#[test]
fn units_equal_their_rows_and_workers_change_no_bit() {
    for level in Level::ALL {
        let simd = Simd::at_most(level);
        for (heads, groups, dim, width) in
            [(9, 3, 64, 64), (2, 2, 128, 48), (10, 2, 16, 80), (6, 1, 256, 256)]
        {
            for (position, tokens) in [(0, 1), (SPAN - 1, 1), (2 * SPAN + 7, 1), (3, 37), (SPAN + 5, 5)] {
                let plain = [(DType::F16, false), (DType::F32, true), (DType::F16, true)];
                let blocks = [(DType::Q8_0, false), (DType::Q4_0, true)];
                let whole = |(dtype, _): &(DType, bool)| {
                    (dim % dtype.block_values(), width % dtype.block_values()) == (0, 0)
                };
                for (dtype, poison) in plain.into_iter().chain(blocks).filter(whole) {
                    let case = Case { heads, groups, dim, width, dtype, position, tokens, poison };
                    let want = run(&case, simd, 1, true);
                    let got = run(&case, simd, 1, false);
                    let place = (level, heads, dim, position, tokens, dtype, poison);
                    for (got, want) in got.iter().zip(&want) {
                        assert!((got - want).abs() < 2e-5, "{got} {want} {place:?}");
                    }
                    for workers in [2, 3] {
                        assert_eq!(got, run(&case, simd, workers, false), "{place:?}");
                    }
                }
            }
        }
    }
}
