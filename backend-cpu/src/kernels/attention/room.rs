//! What one worker computes in, and sums that can be put together.

use super::{Attention, SPAN, tile};
use crate::simd::product::TILE;
use crate::simd::{Simd, vector};

/// Memory of a worker.
pub(super) struct Room<'a> {
    /// Rows of a unit's queries.
    pub queries: &'a mut [f32],
    /// Keys of a block of cells, a column each.
    pub columns: &'a mut [f32],
    /// Values of a block of cells; before them its keys, where these are blocks.
    pub values: &'a mut [f32],
    /// Scores of every row over a block or a span.
    pub scores: &'a mut [f32],
    /// Sums of one span.
    pub part: Part<'a>,
    /// Sums of all spans before.
    pub total: Part<'a>,
    /// Scores of one row over all cells, and room for one unpacked row.
    pub single: &'a mut [f32],
}

impl<'a> Room<'a> {
    /// Its sizes in order. Blocks come only where there are several tokens.
    fn sizes(of: &Attention) -> [usize; 7] {
        let ([dim, cells, ..], width, tokens) = (of.k.shape(), of.v.shape()[0], of.q.shape()[1]);
        let single = cells + of.unpacked();
        if !of.takes_registers() {
            return [0, 0, 0, 0, 0, 0, single];
        }
        let block = if tokens > 1 { tile::BLOCK } else { 0 };
        let rows = Self::rows(of);
        let part = Part::floats(rows, width);
        let scores = (of.group * SPAN).max(rows * block);
        [rows * dim, dim * block, block * width.max(of.unpacked()), scores, part, part, single]
    }

    /// Most rows of a unit.
    fn rows(of: &Attention) -> usize {
        let block = if of.q.shape()[1] > 1 { of.block() } else { 1 };
        (block * of.group).next_multiple_of(TILE)
    }

    /// Floats that a worker needs.
    pub(super) fn floats(of: &Attention) -> usize {
        16 + Self::sizes(of).iter().sum::<usize>()
    }

    /// Divides a worker's memory.
    pub(super) fn new(of: &Attention, floats: &'a mut [f32]) -> Self {
        // Registers that cross cache lines load at half the speed.
        let skip = floats.as_ptr().align_offset(64).min(floats.len());
        let mut left = &mut floats[skip..];
        let [queries, columns, values, scores, part, total, single] =
            Self::sizes(of).map(|n| cut(&mut left, n));
        let (rows, width) = (Self::rows(of), of.v.shape()[0]);
        let (part, total) = (Part::new(part, rows, width), Part::new(total, rows, width));
        Room { queries, columns, values, scores, part, total, single }
    }
}

/// Sums over some cells for several rows of queries: `sums[r] = Σ e^(s − most[r])·v`, `total[r] = Σ e^(s − most[r])`.
pub(super) struct Part<'a> {
    pub most: &'a mut [f32],
    pub total: &'a mut [f32],
    /// Packed rows.
    pub sums: &'a mut [f32],
}

impl<'a> Part<'a> {
    /// Floats of a part of so many rows.
    const fn floats(rows: usize, width: usize) -> usize {
        rows.next_multiple_of(16) * 2 + rows * width
    }

    /// A part in a slice of [`Part::floats`]; an empty one if there are fewer.
    fn new(mut room: &'a mut [f32], rows: usize, width: usize) -> Self {
        let room = &mut room;
        let (most, total) = (cut(room, rows.next_multiple_of(16)), cut(room, rows.next_multiple_of(16)));
        Part { most, total, sums: cut(room, rows * width) }
    }

    /// One row of so many values.
    pub(super) fn row(&mut self, row: usize, width: usize) -> PartRow<'_> {
        let sums = &mut self.sums[row * width..(row + 1) * width];
        PartRow { most: &mut self.most[row], total: &mut self.total[row], sums }
    }

    /// The sums over no cells.
    pub(super) fn clear(&mut self) {
        self.most.fill(f32::NEG_INFINITY);
        self.total.fill(0.0);
        self.sums.fill(0.0);
    }
}

/// One row of a part.
pub(super) struct PartRow<'a> {
    pub most: &'a mut f32,
    pub total: &'a mut f32,
    pub sums: &'a mut [f32],
}

impl PartRow<'_> {
    /// Adds the sums over other cells. What is not a number stays so.
    pub(super) fn merge(&mut self, simd: Simd, most: f32, total: f32, sums: &[f32]) {
        let largest = self.most.max(most);
        let factor = |most: f32| if most == largest { 1.0 } else { (most - largest).exp() };
        let (old, new) = (factor(*self.most), factor(most));
        *self.most = largest;
        *self.total = *self.total * old + total * new;
        if old != 1.0 {
            vector::scale(simd, old, self.sums);
        }
        vector::add_scaled(simd, new, sums, self.sums);
    }
}

/// Takes floats from the front of a slice; all that is left if there are fewer.
fn cut<'a>(room: &mut &'a mut [f32], count: usize) -> &'a mut [f32] {
    let (front, rest) = std::mem::take(room).split_at_mut_checked(count).unwrap_or_default();
    *room = rest;
    front
}
