//! The heads of a group with one token: each cached row is read once for all of them.

use super::room::Room;
use super::single::add_bias;
use super::{Attention, SPAN, Unit};
use crate::simd::functions::exp_and_sum;
use crate::simd::vector;
use std::ops::Range;

impl Attention {
    /// Sums of a unit of one token over a span of cells that it sees.
    pub(super) fn few(&self, unit: &Unit, span: Range<usize>, room: &mut Room<'_>) {
        let (dim, width) = (self.k.shape()[0], self.v.shape()[0]);
        let queries = &mut room.queries[..self.group * dim];
        self.load_queries(unit, queries);
        let scores = &mut room.scores[..self.group * SPAN];
        self.cached(&self.k, unit, span.clone()).scores(self.simd, queries, scores, SPAN);
        for (row, scores) in scores.chunks_exact_mut(SPAN).enumerate() {
            let scores = &mut scores[..span.len()];
            if let Some(bias) = self.bias(&self.place(unit, row)) {
                add_bias(scores, &bias[span.clone()]);
            }
            let most = vector::largest(self.simd, scores);
            let shift = if most == f32::NEG_INFINITY { 0.0 } else { most };
            room.part.most[row] = most;
            room.part.total[row] = exp_and_sum(self.simd, shift, scores);
        }
        let sums = &mut room.part.sums[..self.group * width];
        self.cached(&self.v, unit, span).weighted_sums(self.simd, scores, SPAN, sums);
    }
}
