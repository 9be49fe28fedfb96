//! A block of tokens with the heads of a group: scores and sums by matrix products over blocks of cells.

use super::room::{Part, PartRow, Room};
use super::single::add_bias;
use super::{Attention, Unit};
use crate::simd::functions::exp_and_sum;
use crate::simd::product::{Product, TILE, multiply};
use crate::simd::vector;
use std::ops::Range;

/// Rows of a unit, if its group has no more heads: copying keys and values is then cheap beside the products.
pub(super) const ROWS: usize = 64;

/// Cells of a product.
pub(super) const BLOCK: usize = 64;

impl Attention {
    /// Sums of a unit over a span of cells. Rows that see fewer cells than others exclude the rest.
    pub(super) fn tile(&self, unit: &Unit, span: Range<usize>, room: &mut Room<'_>) {
        let [dim, cells, ..] = self.k.shape();
        let width = self.v.shape()[0];
        let rows = unit.tokens * self.group;
        // Rows beyond the last hold old numbers; nobody reads what becomes of them.
        let padded = rows.next_multiple_of(TILE);
        let Room { queries, columns, values, scores, part, .. } = room;
        let queries = &mut queries[..padded * dim];
        let scores = &mut scores[..padded * BLOCK];
        self.load_queries(unit, queries);
        part.clear();
        for first in span.clone().step_by(BLOCK) {
            let count = BLOCK.min(span.end - first);
            // Whole registers of cells are cheaper; scores of those beyond the span are not used.
            let keys = first..(first + BLOCK).min(cells);
            self.cached(&self.k, unit, keys).transpose(self.simd, columns, BLOCK, values);
            self.cached(&self.v, unit, first..first + count).unpack(self.simd, values);
            let (a, b) = (&*queries, &**columns);
            let to = &mut *scores;
            multiply(
                self.simd,
                Product { a, steps: (dim, 1), inner: dim, b, to, columns: BLOCK, add: false },
            );
            for (row, scores) in scores.chunks_exact_mut(BLOCK).enumerate().take(rows) {
                self.weigh(unit, row, first, &mut scores[..count], part);
            }
            let (a, b, to) = (&*scores, &**values, &mut part.sums[..padded * width]);
            multiply(
                self.simd,
                Product { a, steps: (BLOCK, 1), inner: count, b, to, columns: width, add: true },
            );
        }
    }

    /// Turns a row's scores of some cells into weights, and scales its sums to them.
    fn weigh(&self, unit: &Unit, row: usize, first: usize, scores: &mut [f32], part: &mut Part<'_>) {
        let place = self.place(unit, row);
        let seen = place.visible.saturating_sub(first).min(scores.len());
        scores[seen..].fill(f32::NEG_INFINITY);
        if let Some(bias) = self.bias(&place) {
            add_bias(&mut scores[..seen], &bias[first..]);
        }
        let PartRow { most, total, sums } = part.row(row, self.v.shape()[0]);
        let largest = vector::largest(self.simd, scores).max(*most);
        if largest > *most && *most > f32::NEG_INFINITY {
            let factor = (*most - largest).exp();
            *total *= factor;
            vector::scale(self.simd, factor, sums);
        }
        *most = largest;
        let shift = if largest == f32::NEG_INFINITY { 0.0 } else { largest };
        *total += exp_and_sum(self.simd, shift, scores);
    }
}
