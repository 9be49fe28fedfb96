//! Attention over a cache: scores, softmax, weighted sum.
//!
//! A unit of work is a group of heads that share a key/value head, with one token or a block of tokens. The cells that it
//! sees are cut into spans of fixed size; each span gives sums of its own, which are merged in the order of the spans. So
//! no result depends on the number of workers, who may share out the spans of one unit.
//!
//! Up to [`FEW`] tokens take their scores row by row ([`few`]), longer runs in blocks by matrix products ([`tile`]): the same
//! token may be rounded differently in a long run and alone, never differently in a short one and alone. Heads whose size is no
//! multiple of 16, and rows whose result holds something that is no finite number, are attended to one by one ([`single`]):
//! there the cells of weight 0 are not read, so that what they hold cannot matter.

mod few;
mod room;
mod single;
mod spans;
#[cfg(test)]
mod tests;
mod tile;

use super::{Tuned, float_rows};
use crate::job::{Args, Job, Scratch, Worker};
use crate::simd::cached::Rows;
use crate::simd::product::TILE;
use crate::simd::{Simd, vector};
use crate::view::View;
use room::Room;
use single::Place;
use std::ops::Range;
use weft_core::contract::Port;
use weft_core::graph::DType;
use weft_core::kernels::KernelError;
use weft_core::segment::Segment;

/// Tokens of a run that are computed as if each were alone: as many as a round of speculation checks.
const FEW: usize = 17;

pub(super) const TUNED: &[Tuned] = &[
    Tuned { stem: "flash_attention", variant: "rows", exact: true, port: plain, symbols: &[], build },
    Tuned { stem: "flash_attention", variant: "blocks", exact: true, port: blocks, symbols: &[], build },
];

/// Cells whose sums are merged with those of others: enough to make merging cheap, few enough to go round.
const SPAN: usize = 512;

/// Most bytes for the sums of spans that workers share out.
const MOST_SHARED: usize = 32 << 20;

fn plain(port: Port) -> Port {
    cached(port, &[DType::F32, DType::F16], 4)
}

/// Quantised keys or values, the others perhaps halves: rows of blocks need not begin at whole words.
fn blocks(port: Port) -> Port {
    cached(port, &[DType::F16, DType::Q8_0, DType::Q4_0], 2)
}

fn cached(port: Port, dtypes: &'static [DType], alignment: u64) -> Port {
    use weft_core::contract::Stride::{Any, Packed};
    match port.name {
        "k" | "v" => Port { dtypes, ..port }.strides([Packed, Any, Any, Any]).aligned(alignment),
        _ => float_rows(port),
    }
}

struct Attention {
    simd: Simd,
    scale: f32,
    /// Heads that share keys and values.
    group: usize,
    q: View,
    k: View,
    v: View,
    mask: Option<View>,
    sinks: Option<View>,
    segments: Option<View>,
    out: View,
    /// Sums of every span of every row, where workers share spans out.
    shared: Option<Scratch>,
}

fn build(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let (q, k) = (args.view("q")?, args.view("k")?);
    let mut attention = Attention {
        simd: args.simd,
        scale: args.constants().f32("scale")?,
        group: q.shape()[2] / k.shape()[2].max(1),
        q,
        k,
        v: args.view("v")?,
        mask: args.maybe("mask"),
        sinks: args.maybe("sinks"),
        segments: args.maybe("segments"),
        out: args.view("out")?,
        shared: None,
    };
    if attention.wants_sharing(args.workers) {
        attention.shared = Some(args.scratch.take(attention.shared_bytes()));
    }
    Ok(Box::new(attention))
}

/// Tokens of one sequence.
#[derive(Clone, Copy)]
struct Run {
    /// Its first row of the ubatch.
    first: usize,
    count: usize,
    sequence: usize,
    cache: usize,
    /// Cached tokens before it; `None` if each of its tokens sees every cell.
    position: Option<usize>,
}

/// Some tokens of a run and all heads of a group; a row is one head of one token.
#[derive(Clone, Copy)]
struct Unit {
    run: Run,
    /// Its first token in the run.
    first: usize,
    tokens: usize,
    /// The key/value head.
    head: usize,
}

impl Attention {
    /// Whether there may be too few units for every worker to get an even share, and spans to share out instead.
    fn wants_sharing(&self, workers: usize) -> bool {
        let [_, tokens, _, seqs] = self.q.shape();
        let [_, cells, groups, _] = self.k.shape();
        let units = tokens.div_ceil(self.block()) * groups * seqs;
        let worth = workers > 1 && units < 4 * workers && cells > SPAN;
        worth && self.takes_registers() && self.shared_bytes() <= MOST_SHARED
    }

    /// Whether rows of keys and values are whole registers.
    fn takes_registers(&self) -> bool {
        let whole = |view: &View| view.shape()[0] > 0 && view.shape()[0].is_multiple_of(16);
        whole(&self.k) && whole(&self.v)
    }

    /// Tokens of a unit that is computed by matrix products.
    fn block(&self) -> usize {
        (tile::ROWS / self.group.max(1)).max(1)
    }

    fn is_tiled(&self, run: &Run) -> bool {
        run.count > FEW && run.count * self.group >= TILE
    }

    fn spans(&self) -> usize {
        self.k.shape()[1].div_ceil(SPAN)
    }

    fn shared_bytes(&self) -> usize {
        let [_, tokens, heads, seqs] = self.q.shape();
        tokens * heads * seqs * self.spans() * (self.v.shape()[0] + 2) * size_of::<f32>()
    }

    /// Runs of the segments, or of whole sequences where there is no table.
    fn runs(&self, segments: &[Segment]) -> impl Iterator<Item = Run> {
        let [_, tokens, _, seqs] = self.q.shape();
        let whole = if self.segments.is_some() { 0 } else { seqs };
        let listed = segments.iter().map(|segment| Run {
            first: segment.row as usize,
            count: segment.count as usize,
            sequence: 0,
            cache: segment.slot as usize,
            position: Some(segment.position as usize),
        });
        listed.chain((0..whole).map(move |s| Run {
            first: 0,
            count: tokens,
            sequence: s,
            cache: s,
            position: None,
        }))
    }

    fn units(&self, run: Run) -> impl Iterator<Item = Unit> {
        let step = if self.is_tiled(&run) { self.block() } else { 1 };
        let groups = if self.group > 0 { self.k.shape()[2] } else { 0 };
        (0..run.count).step_by(step).flat_map(move |first| {
            let tokens = step.min(run.count - first);
            (0..groups).map(move |head| Unit { run, first, tokens, head })
        })
    }

    /// Cells that a token of a run sees.
    fn visible(&self, run: &Run, token: usize) -> usize {
        let cells = self.k.shape()[1];
        run.position.map_or(cells, |position| (position + token + 1).min(cells))
    }

    /// Where a row of a unit lies.
    fn place(&self, unit: &Unit, row: usize) -> Place {
        let token = unit.first + row / self.group;
        Place {
            token: unit.run.first + token,
            head: unit.head * self.group + row % self.group,
            sequence: unit.run.sequence,
            cache: unit.run.cache,
            visible: self.visible(&unit.run, token),
        }
    }

    /// The spans of all cells that a unit sees.
    fn spans_of(&self, unit: &Unit) -> impl Iterator<Item = Range<usize>> + use<> {
        let seen = self.visible(&unit.run, unit.first + unit.tokens - 1);
        (0..seen).step_by(SPAN).map(move |start| start..(start + SPAN).min(seen))
    }

    /// Rows of a cache for cells of a unit's head.
    fn cached(&self, view: &View, unit: &Unit, cells: Range<usize>) -> Rows {
        self.rows(view, unit.head, unit.run.cache, cells)
    }

    /// Rows of a key/value head of a cache.
    fn rows(&self, view: &View, head: usize, cache: usize, cells: Range<usize>) -> Rows {
        let start = view.at([0, cells.start, head, cache]);
        let stride = view.layout.strides[1] as usize;
        // SAFETY: the cells lie inside the view by the segment checks; caches are not written in this phase.
        unsafe { Rows::new(start, stride, view.shape()[0], cells.len(), view.dtype()) }
    }

    /// Floats of a row of keys or values that is unpacked by itself: none of plain types.
    fn unpacked(&self) -> usize {
        let width = |view: &View| if view.dtype().is_quantised() { view.shape()[0] } else { 0 };
        width(&self.k).max(width(&self.v))
    }

    /// Copies a unit's queries, times the scale.
    fn load_queries(&self, unit: &Unit, to: &mut [f32]) {
        for (row, to) in to.chunks_exact_mut(self.q.shape()[0]).take(unit.tokens * self.group).enumerate() {
            let place = self.place(unit, row);
            // SAFETY: as in `attend`.
            let query = unsafe { self.q.row([place.token, place.head, place.sequence]) };
            vector::set_scaled(self.simd, self.scale, query, to);
        }
    }

    /// The row of the mask for a row of queries.
    fn bias(&self, place: &Place) -> Option<&[f32]> {
        // SAFETY: masks cover every token, and repeat otherwise; they are not written in this phase.
        self.mask.map(|mask| unsafe { mask.row(mask.repeated([place.token, place.head, place.sequence])) })
    }
}

impl Job for Attention {
    fn stages(&self) -> usize {
        if self.shared.is_some() { 2 } else { 1 }
    }

    fn run(&self, stage: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let mut segments = std::mem::take(&mut worker.segments);
        segments.clear();
        if let Some(table) = self.segments {
            // SAFETY: inputs are not written while a program runs.
            unsafe { table.segments(self.q.shape()[1], self.k.shape()[3], &mut segments)? };
        }
        // Later tokens see more: neighbouring items alternate between workers.
        let mut deal = Deal { next: 0, index: worker.index, count: worker.count };
        let mut room = Room::new(self, worker.floats(Room::floats(self)));
        for unit in self.runs(&segments).flat_map(|run| self.units(run)) {
            let rows = 0..unit.tokens * self.group;
            match &self.shared {
                _ if !self.takes_registers() => {
                    let mine = rows.filter(|_| deal.is_mine());
                    mine.for_each(|row| self.attend(&self.place(&unit, row), room.single));
                }
                Some(shared) if stage == 0 => {
                    let spans = self.spans_of(&unit).filter(|_| deal.is_mine());
                    spans.for_each(|span| self.share(shared, &unit, span, &mut room));
                }
                Some(shared) => {
                    let mine = rows.filter(|_| deal.is_mine());
                    mine.for_each(|row| self.gather(shared, &unit, row, &mut room));
                }
                None if deal.is_mine() => self.whole(&unit, &mut room),
                None => {}
            }
        }
        worker.segments = segments;
        Ok(())
    }
}

/// Deals numbered items out to workers.
struct Deal {
    next: usize,
    index: usize,
    count: usize,
}

impl Deal {
    /// Whether the next item is this worker's.
    fn is_mine(&mut self) -> bool {
        let mine = self.next % self.count == self.index;
        self.next += 1;
        mine
    }
}
