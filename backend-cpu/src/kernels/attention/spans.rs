//! Spans of cells: computed one after the other by one worker, or shared out and merged in the same order.

use super::room::{PartRow, Room};
use super::single::Place;
use super::{Attention, SPAN, Unit};
use crate::job::Scratch;
use crate::simd::vector;
use std::ops::Range;

impl Attention {
    /// One unit by one worker.
    pub(super) fn whole(&self, unit: &Unit, room: &mut Room<'_>) {
        let (rows, width) = (unit.tokens * self.group, self.v.shape()[0]);
        for row in 0..rows {
            self.begin(&self.place(unit, row), &mut room.total.row(row, width));
        }
        for span in self.spans_of(unit) {
            self.compute(unit, span, room);
            for row in 0..rows {
                let PartRow { most, total, sums } = room.part.row(row, width);
                room.total.row(row, width).merge(self.simd, *most, *total, sums);
            }
        }
        for row in 0..rows {
            self.finish(&self.place(unit, row), &room.total.row(row, width), room.single);
        }
    }

    /// The sums of a span of a row in shared memory: the largest score, the total, the values.
    ///
    /// # Safety
    /// The span is one of the row's, and no other worker uses it now.
    unsafe fn shared_sums<'a>(&self, shared: &Scratch, place: &Place, span: usize) -> &'a mut [f32] {
        let [_, tokens, heads, _] = self.q.shape();
        let floats = self.v.shape()[0] + 2;
        let row = (place.sequence * tokens + place.token) * heads + place.head;
        let start = shared.start().cast::<f32>().wrapping_add((row * self.spans() + span) * floats);
        // SAFETY: `shared_bytes` counts every span of every row; scratch is aligned; the rest is the caller's word.
        unsafe { std::slice::from_raw_parts_mut(start, floats) }
    }

    /// One span of a unit, for others to merge.
    pub(super) fn share(&self, shared: &Scratch, unit: &Unit, span: Range<usize>, room: &mut Room<'_>) {
        let number = span.start / SPAN;
        self.compute(unit, span, room);
        for row in 0..unit.tokens * self.group {
            let part = room.part.row(row, self.v.shape()[0]);
            // SAFETY: each span of each row is one worker's in this stage.
            let to = unsafe { self.shared_sums(shared, &self.place(unit, row), number) };
            (to[0], to[1]) = (*part.most, *part.total);
            to[2..].copy_from_slice(part.sums);
        }
    }

    /// Merges the spans of a row in their order.
    pub(super) fn gather(&self, shared: &Scratch, unit: &Unit, row: usize, room: &mut Room<'_>) {
        let place = self.place(unit, row);
        let mut total = room.total.row(row, self.v.shape()[0]);
        self.begin(&place, &mut total);
        for (number, _) in self.spans_of(unit).enumerate() {
            // SAFETY: spans are only read in this stage, each row's by one worker.
            let sums = unsafe { self.shared_sums(shared, &place, number) };
            total.merge(self.simd, sums[0], sums[1], &sums[2..]);
        }
        self.finish(&place, &total, room.single);
    }

    fn compute(&self, unit: &Unit, span: Range<usize>, room: &mut Room<'_>) {
        if self.is_tiled(&unit.run) {
            self.tile(unit, span, room);
        } else {
            self.few(unit, span, room);
        }
    }

    /// Begins the sums of a row: with its sink, which is a score without a value.
    fn begin(&self, place: &Place, row: &mut PartRow<'_>) {
        // SAFETY: there is a sink for each head.
        let sink = self.sinks.map_or(f32::NEG_INFINITY, |sinks| unsafe { sinks.f32([place.head, 0, 0, 0]) });
        *row.most = sink.max(f32::NEG_INFINITY);
        *row.total = match sink {
            f32::NEG_INFINITY => 0.0,
            _ if sink.is_finite() => 1.0,
            _ => f32::NAN,
        };
        row.sums.fill(0.0);
    }

    /// Writes a row whose sums are complete.
    fn finish(&self, place: &Place, row: &PartRow<'_>, scores: &mut [f32]) {
        // SAFETY: as in `attend`.
        let out = unsafe { self.out.row_mut([place.head, place.token, place.sequence]) };
        if *row.total == 0.0 {
            out.fill(0.0);
            return;
        }
        vector::set_scaled(self.simd, 1.0 / *row.total, row.sums, out);
        // A cell of weight 0 may hold anything.
        if !vector::sum_of_squares(self.simd, out).is_finite() {
            self.attend(place, scores);
        }
    }
}
