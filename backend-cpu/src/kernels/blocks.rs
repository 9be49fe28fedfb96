//! Attention over chosen blocks of a cache, and the scores that choose them: row by row.

use super::{Tuned, float_rows};
use crate::job::{Args, Job, Worker};
use crate::simd::functions::exp_and_sum;
use crate::simd::{Simd, vector};
use crate::view::View;
use std::ops::Range;
use weft_core::contract::Port;
use weft_core::contract::Stride::{Any, Packed};
use weft_core::graph::DType;
use weft_core::kernels::KernelError;
use weft_core::segment::Segment;

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "block_scores",
        variant: "rows",
        exact: true,
        port: cached,
        symbols: &[],
        build: build_scores,
    },
    Tuned {
        stem: "block_attention",
        variant: "rows",
        exact: true,
        port: cached,
        symbols: &[],
        build: build_attention,
    },
];

fn cached(port: Port) -> Port {
    match port.name {
        "keys" | "k" | "v" => {
            Port { dtypes: &[DType::F32, DType::F16], ..port }.strides([Packed, Any, Any, Any]).aligned(4)
        }
        _ => float_rows(port),
    }
}

/// The product of a row of f32 and one of a cache.
///
/// # Safety
/// The cache is f32 or f16 with packed rows, the index lies inside, and nobody writes it now.
unsafe fn product(simd: Simd, query: &[f32], cache: &View, at: [usize; 3]) -> f32 {
    // SAFETY: by the caller's word.
    unsafe {
        match cache.dtype() {
            DType::F32 => vector::dot(simd, query, cache.row(at)),
            _ => vector::dot_half(simd, query, cache.row_half(at)),
        }
    }
}

/// Rows of segments: the row, its slot, and how many tokens of the sequence it sees.
fn rows(segments: &[Segment]) -> impl Iterator<Item = (usize, usize, usize)> {
    segments.iter().flat_map(|segment| {
        let (row, slot, position) = (segment.row as usize, segment.slot as usize, segment.position as usize);
        (0..segment.count as usize).map(move |i| (row + i, slot, position + i + 1))
    })
}

struct Scores {
    simd: Simd,
    block: usize,
    q: View,
    keys: View,
    segments: View,
    out: View,
}

fn build_scores(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Scores {
        simd: args.simd,
        block: args.constants().u32("block")? as usize,
        q: args.view("q")?,
        keys: args.view("keys")?,
        segments: args.view("segments")?,
        out: args.view("out")?,
    }))
}

impl Scores {
    /// Scores of some blocks for a row, which sees this many whole ones.
    fn score(&self, row: usize, slot: usize, whole: usize, blocks: Range<usize>) {
        for b in blocks {
            let mut score = f32::NEG_INFINITY;
            if b < whole {
                // SAFETY: indices lie inside by shape rules and segment checks; neither is written in this phase.
                let part =
                    |h| unsafe { product(self.simd, self.q.row([h, row, 0]), &self.keys, [b, slot, 0]) };
                score =
                    (0..self.q.shape()[1]).map(part).filter(|s| *s > 0.0 || s.is_nan()).sum::<f32>() + 0.0;
            }
            // SAFETY: each worker writes blocks of its own.
            unsafe { self.out.at([b, row, 0, 0]).cast::<f32>().write_unaligned(score) };
        }
    }
}

impl Job for Scores {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let mut segments = std::mem::take(&mut worker.segments);
        // SAFETY: inputs are not written while a program runs.
        unsafe { self.segments.segments(self.q.shape()[2], self.keys.shape()[2], &mut segments)? };
        let all = self.out.shape()[0];
        for (row, slot, seen) in rows(&segments) {
            // Workers share out what is seen, then the rest.
            let whole = (seen / self.block).min(all);
            let (first, rest) = (worker.share(whole, 1), worker.share(all - whole, 1));
            self.score(row, slot, whole, first);
            self.score(row, slot, whole, whole + rest.start..whole + rest.end);
        }
        worker.segments = segments;
        Ok(())
    }
}

struct Attention {
    simd: Simd,
    scale: f32,
    block: usize,
    q: View,
    k: View,
    v: View,
    blocks: View,
    segments: View,
    out: View,
}

fn build_attention(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Attention {
        simd: args.simd,
        scale: args.constants().f32("scale")?,
        block: args.constants().u32("block")? as usize,
        q: args.view("q")?,
        k: args.view("k")?,
        v: args.view("v")?,
        blocks: args.view("blocks")?,
        segments: args.view("segments")?,
        out: args.view("out")?,
    }))
}

/// One row of queries: its place in the ubatch, its slot, and how many cells it could see.
#[derive(Clone, Copy)]
struct Query {
    row: usize,
    head: usize,
    slot: usize,
    visible: usize,
}

impl Attention {
    /// The cells that a row sees: those of its blocks, then those behind its last whole one.
    fn cells(&self, query: Query) -> impl Iterator<Item = usize> {
        let whole = query.visible / self.block;
        let chosen = (0..self.blocks.shape()[0]).filter_map(move |n| {
            // SAFETY: the index lies inside by the shape rule; lists are not written in this phase.
            let block = unsafe { self.blocks.index([n, query.row, 0, 0]) };
            usize::try_from(block).ok().filter(|block| *block < whole)
        });
        let size = self.block;
        chosen.flat_map(move |block| block * size..(block + 1) * size).chain(whole * size..query.visible)
    }

    /// Attends; `scores` holds a float for each entry of the list.
    fn attend(&self, query: Query, scores: &mut [f32]) {
        let Query { row, head, slot, .. } = query;
        let group = head / (self.q.shape()[2] / self.k.shape()[2].max(1)).max(1);
        // SAFETY: indices lie inside by shape rules and segment checks; each worker writes its own rows; caches are not
        // written in this phase.
        unsafe {
            let (q, out) = (self.q.row([row, head, 0]), self.out.row_mut([head, row, 0]));
            let mut count = 0;
            for (score, cell) in scores.iter_mut().zip(self.cells(query)) {
                *score = product(self.simd, q, &self.k, [cell, group, slot]) * self.scale;
                count += 1;
            }
            let scores = &mut scores[..count];
            out.fill(0.0);
            if count == 0 {
                return;
            }
            let most = vector::largest(self.simd, scores);
            let inverse = 1.0 / exp_and_sum(self.simd, most, scores);
            for (weight, cell) in scores.iter().zip(self.cells(query)).filter(|(w, _)| **w != 0.0) {
                let at = [cell, group, slot];
                match self.v.dtype() {
                    DType::F32 => vector::add_scaled(self.simd, weight * inverse, self.v.row(at), out),
                    _ => vector::add_scaled_half(self.simd, weight * inverse, self.v.row_half(at), out),
                }
            }
        }
    }
}

impl Job for Attention {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let mut segments = std::mem::take(&mut worker.segments);
        let (heads, cells) = (self.q.shape()[2], self.k.shape()[1]);
        // SAFETY: inputs are not written while a program runs.
        unsafe { self.segments.segments(self.q.shape()[1], self.k.shape()[3], &mut segments)? };
        let (index, count) = (worker.index, worker.count);
        let entries = (self.blocks.shape()[0] + 1) * self.block;
        let scores = worker.floats(entries);
        let queries = rows(&segments).flat_map(|(row, slot, seen)| {
            (0..heads).map(move |head| Query { row, head, slot, visible: seen.min(cells) })
        });
        queries.skip(index).step_by(count).for_each(|query| self.attend(query, scores));
        worker.segments = segments;
        Ok(())
    }
}
