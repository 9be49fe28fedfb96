//! One row of queries at a time: heads of any size, and rows whose results are no numbers.

use super::Attention;
use crate::simd::functions::exp_and_sum;
use crate::simd::vector;
use crate::view::View;
use weft_core::graph::DType;

/// One row of queries of one head.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub token: usize,
    pub head: usize,
    pub sequence: usize,
    /// Which cache, and how many of its cells are seen.
    pub cache: usize,
    pub visible: usize,
}

impl Attention {
    /// Attends without reading the value of any cell of weight 0. `room` holds a float for each visible cell, and an unpacked
    /// row behind them.
    pub(super) fn attend(&self, place: &Place, room: &mut [f32]) {
        let Place { token, head, sequence, cache, visible } = *place;
        let group = head / self.group;
        let (scores, row) = room.split_at_mut(visible);
        // SAFETY: indices lie inside by shape rules and segment checks; each worker writes its own rows; caches are not
        // written in this phase.
        unsafe {
            let query = self.q.row([token, head, sequence]);
            for (c, score) in scores.iter_mut().enumerate() {
                let at = [c, group, cache];
                let dot = match self.k.dtype() {
                    DType::F32 => vector::dot(self.simd, query, self.k.row(at)),
                    DType::F16 => vector::dot_half(self.simd, query, self.k.row_half(at)),
                    _ => vector::dot(self.simd, query, self.unpack(&self.k, at, row)),
                };
                *score = dot * self.scale;
            }
            if let Some(mask) = self.mask {
                let bias = mask.row(mask.repeated([token, head, sequence]));
                add_bias(scores, bias);
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
                let weight = weight * inverse;
                match self.v.dtype() {
                    DType::F32 => vector::add_scaled(self.simd, weight, self.v.row(at), out),
                    DType::F16 => vector::add_scaled_half(self.simd, weight, self.v.row_half(at), out),
                    _ => vector::add_scaled(self.simd, weight, self.unpack(&self.v, at, row), out),
                }
            }
        }
    }

    /// The values of a row of blocks, by its cell, key/value head and cache.
    fn unpack<'a>(&self, view: &View, [cell, head, cache]: [usize; 3], room: &'a mut [f32]) -> &'a [f32] {
        self.rows(view, head, cache, cell..cell + 1).unpack(self.simd, room);
        &room[..view.shape()[0]]
    }
}

/// Adds a row of a mask to scores.
pub(super) fn add_bias(scores: &mut [f32], bias: &[f32]) {
    for (score, bias) in scores.iter_mut().zip(bias) {
        // Selection, not a large negative number: what the cell holds cannot matter.
        *score = if *bias == f32::NEG_INFINITY { f32::NEG_INFINITY } else { *score + bias };
    }
}
