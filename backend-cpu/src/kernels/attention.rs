//! Attention over a cache, head by head: scores, softmax, weighted sum.

use super::{Tuned, float_rows};
use crate::job::{Args, Job, Worker};
use crate::simd::functions::exp_and_sum;
use crate::simd::{Simd, vector};
use crate::view::View;
use weft_core::contract::Port;
use weft_core::graph::DType;
use weft_core::kernels::KernelError;
use weft_core::segment::Segment;

pub(super) const TUNED: &[Tuned] =
    &[Tuned { stem: "flash_attention", variant: "rows", exact: true, port, symbols: &[], build }];

/// Types of keys and values.
const CACHE: &[DType] = &[DType::F32, DType::F16];

fn port(port: Port) -> Port {
    use weft_core::contract::Stride::{Any, Packed};
    match port.name {
        "k" | "v" => Port { dtypes: CACHE, ..port }.strides([Packed, Any, Any, Any]).aligned(4),
        _ => float_rows(port),
    }
}

struct Attention {
    simd: Simd,
    scale: f32,
    q: View,
    k: View,
    v: View,
    mask: Option<View>,
    sinks: Option<View>,
    segments: Option<View>,
    out: View,
}

fn build(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Attention {
        simd: args.simd,
        scale: args.constants().f32("scale")?,
        q: args.view("q")?,
        k: args.view("k")?,
        v: args.view("v")?,
        mask: args.maybe("mask"),
        sinks: args.maybe("sinks"),
        segments: args.maybe("segments"),
        out: args.view("out")?,
    }))
}

/// One row of queries of one head.
struct Place {
    token: usize,
    head: usize,
    sequence: usize,
    /// Which cache, and how many of its cells are seen.
    cache: usize,
    visible: usize,
}

impl Attention {
    fn attend(&self, place: &Place, scores: &mut [f32]) {
        let Place { token, head, sequence, cache, visible } = *place;
        let [_, _, heads, _] = self.q.shape();
        let group = head / (heads / self.k.shape()[2]);
        let scores = &mut scores[..visible];
        // SAFETY: indices lie inside by shape rules and segment checks; each worker writes its own rows; caches are not
        // written in this phase.
        unsafe {
            let query = self.q.row([token, head, sequence]);
            for (c, score) in scores.iter_mut().enumerate() {
                let at = [c, group, cache];
                let dot = match self.k.dtype() {
                    DType::F32 => vector::dot(self.simd, query, self.k.row(at)),
                    _ => vector::dot_half(self.simd, query, self.k.row_half(at)),
                };
                *score = dot * self.scale;
            }
            if let Some(mask) = self.mask {
                let bias = mask.row(mask.repeated([token, head, sequence]));
                for (score, bias) in scores.iter_mut().zip(bias) {
                    // Selection, not a large negative number: what the cell holds cannot matter.
                    *score = if *bias == f32::NEG_INFINITY { f32::NEG_INFINITY } else { *score + bias };
                }
            }
            let sink = self.sinks.map(|sinks| sinks.f32([head, 0, 0, 0]));
            let out = self.out.row_mut([head, token, sequence]);
            out.fill(0.0);
            let finite = |v: f32| if v.is_nan() { f32::NAN } else { v };
            let most = vector::largest(self.simd, scores).max(sink.map_or(f32::NEG_INFINITY, finite));
            if most == f32::NEG_INFINITY && !scores.iter().any(|s| s.is_nan()) {
                return;
            }
            let sum = exp_and_sum(self.simd, most, scores) + sink.map_or(0.0, |s| (s - most).exp());
            let inverse = 1.0 / sum;
            for (c, weight) in scores.iter().enumerate() {
                if *weight == 0.0 {
                    continue;
                }
                let at = [c, group, cache];
                match self.v.dtype() {
                    DType::F32 => vector::add_scaled(self.simd, weight * inverse, self.v.row(at), out),
                    _ => vector::add_scaled_half(self.simd, weight * inverse, self.v.row_half(at), out),
                }
            }
        }
    }

    /// The rows of the ubatch that a list of segments fills, as (segment, token in it).
    fn rows(segments: &[Segment]) -> impl Iterator<Item = (&Segment, usize)> {
        segments.iter().flat_map(|segment| (0..segment.count as usize).map(move |i| (segment, i)))
    }
}

impl Job for Attention {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let [_, tokens, heads, seqs] = self.q.shape();
        let [_, cells, _, slots] = self.k.shape();
        let (index, count) = (worker.index, worker.count);
        // Later tokens see more: neighbouring units alternate between workers.
        let mine = |unit: usize| unit % count == index;
        let mut segments = std::mem::take(&mut worker.segments);
        if let Some(table) = self.segments {
            // SAFETY: inputs are not written while a program runs.
            unsafe { table.segments(tokens, slots, &mut segments)? };
            let scores = worker.floats(cells);
            for (at, (segment, i)) in Self::rows(&segments).enumerate() {
                let visible = (segment.position as usize + i + 1).min(cells);
                let (token, cache) = (segment.row as usize + i, segment.slot as usize);
                for head in (0..heads).filter(|head| mine(at * heads + head)) {
                    self.attend(&Place { token, head, sequence: 0, cache, visible }, scores);
                }
            }
        } else {
            let scores = worker.floats(cells);
            for unit in (0..tokens * heads * seqs).filter(|unit| mine(*unit)) {
                let (head, token, sequence) = (unit % heads, unit / heads % tokens, unit / (heads * tokens));
                self.attend(&Place { token, head, sequence, cache: sequence, visible: cells }, scores);
            }
        }
        worker.segments = segments;
        Ok(())
    }
}
