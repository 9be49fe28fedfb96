//! The delta recurrence of heads over segments, with states in a pool.

use super::norms::l2_factor;
use super::{Tuned, float_rows};
use crate::job::{Args, Job, Worker};
use crate::simd::recurrent::{CHUNK, Chunks, Token, chunk_floats, step};
use crate::simd::{Simd, vector};
use crate::view::View;
use weft_core::contract::{Allowed, Extent, Port, Symbol};
use weft_core::kernels::{KernelError, unary};
use weft_core::segment::Segment;

pub(super) const TUNED: &[Tuned] = &[
    Tuned {
        stem: "gated_delta_net",
        variant: "heads",
        exact: true,
        port,
        symbols: HEADS,
        build: build_plain,
    },
    Tuned { stem: "gdn_core", variant: "heads", exact: true, port, symbols: HEADS, build: build_core },
];

/// Registers divide a head; sequences come as segments.
pub(super) const HEADS: &[Symbol] = &[
    Symbol { name: "D", allowed: Allowed::MultipleOf(16, 512) },
    Symbol { name: "S", allowed: Allowed::OneOf(&[1]) },
];

/// The segmented form with one decay per head and packed states.
fn port(port: Port) -> Port {
    let mut port = float_rows(port);
    match port.name {
        "segments" => port.optional = false,
        "state_out" => {
            port = port.packed();
            port.optional = false;
        }
        "state" => port = port.packed(),
        "gate" => port.shape[0] = Extent::Is(1),
        // A gather of states is the other form's.
        "rows" => port.dtypes = &[],
        _ => {}
    }
    port
}

/// States of heads in a pool, and how a pass over a segment reads and writes them.
#[derive(Clone, Copy)]
pub(crate) struct States {
    pub simd: Simd,
    /// Where a segment starts from.
    pub from: View,
    /// Where its states go.
    pub to: View,
    pub snapshots: usize,
}

impl States {
    fn matrix(view: &View, head: usize, plane: usize) -> (*mut f32, usize) {
        let [dim, rows, ..] = view.shape();
        (view.at([0, 0, head, plane]).cast(), dim * rows)
    }

    /// Runs a segment through one head. `token` gives each token's operands, `emit` gets its output for change.
    ///
    /// # Safety
    /// Both pools are packed f32; only this worker touches this head of the segment's slot.
    pub(crate) unsafe fn pass<'t>(
        &self,
        segment: &Segment,
        head: usize,
        room: &mut [f32],
        token: impl Fn(usize) -> Token<'t>,
        mut emit: impl FnMut(usize, &mut [f32]),
    ) {
        let dim = self.to.shape()[0];
        let count = segment.count as usize;
        let base = segment.slot as usize * self.snapshots;
        let (work, room) = room.split_at_mut(dim * dim);
        let (out, room) = room.split_at_mut(dim);
        if segment.fresh {
            work.fill(0.0);
        } else {
            let plane = base + (segment.plane as usize).min(self.snapshots - 1);
            let (from, size) = Self::matrix(&self.from, head, plane);
            // SAFETY: by the caller's word.
            work.copy_from_slice(unsafe { std::slice::from_raw_parts(from, size) });
        }
        let store = |plane: usize, state: &[f32]| {
            let (to, size) = Self::matrix(&self.to, head, base + plane);
            // SAFETY: by the caller's word.
            unsafe { std::slice::from_raw_parts_mut(to, size) }.copy_from_slice(state);
        };
        // The last K tokens go one by one: each leaves a snapshot.
        let singles = if self.snapshots == 1 { 0 } else { self.snapshots.min(count) };
        let chunked = if count - singles >= CHUNK / 2 { count - singles } else { 0 };
        if chunked > 0
            && let Some(mut chunks) = Chunks::new(self.simd, dim, work, room)
        {
            for first in (0..chunked).step_by(CHUNK) {
                let tokens = (first..chunked.min(first + CHUNK)).map(&token);
                chunks.pass(tokens, |t, row| {
                    out.copy_from_slice(row);
                    emit(first + t, out);
                });
            }
            chunks.finish(work);
        }
        for i in chunked..count {
            step(self.simd, work, &token(i), out);
            emit(i, out);
            let plane = count - 1 - i;
            if plane < self.snapshots && plane > 0 {
                store(plane, work);
            }
        }
        if count > 0 {
            store(0, work);
        }
    }

    /// Floats that [`States::pass`] works in.
    pub(crate) fn room(&self) -> usize {
        let dim = self.to.shape()[0];
        dim * dim + dim + chunk_floats(dim)
    }
}

/// The key head of a value head. `map` 0 is tiled, 1 grouped.
pub(crate) fn key_head(map: u32, head: usize, heads: usize, key_heads: usize) -> usize {
    if map == 0 { head % key_heads } else { head / (heads / key_heads) }
}

/// What is still to do to raw projections: vectors for the decay, and the norms of q and k.
struct Raw {
    dt: View,
    a: View,
    eps: f32,
    form: u32,
}

struct Delta {
    states: States,
    q: View,
    k: View,
    v: View,
    segments: View,
    out: View,
    map: u32,
    /// Log decay and write strength, or their raw projections.
    gate: View,
    beta: View,
    raw: Option<Raw>,
}

fn delta(args: &Args<'_>, gate: View, raw: Option<Raw>) -> Result<Box<dyn Job>, KernelError> {
    Ok(Box::new(Delta {
        states: States {
            simd: args.simd,
            from: args.view("state")?,
            to: args.view("state_out")?,
            snapshots: args.constants().u32("snapshots")? as usize,
        },
        q: args.view("q")?,
        k: args.view("k")?,
        v: args.view("v")?,
        segments: args.view("segments")?,
        out: args.view("out")?,
        map: args.constants().u32("heads")?,
        gate,
        beta: args.view("beta")?,
        raw,
    }))
}

fn build_plain(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    delta(args, args.view("gate")?, None)
}

fn build_core(args: &mut Args<'_>) -> Result<Box<dyn Job>, KernelError> {
    let (eps, form) = (args.constants().f32("eps")?, args.constants().u32("form")?);
    let raw = Raw { dt: args.view("dt")?, a: args.view("a")?, eps, form };
    delta(args, args.view("alpha")?, Some(raw))
}

/// A head's log decay from its raw projection.
pub(crate) fn decay(alpha: f32, dt: f32, a: f32) -> f32 {
    a * unary::softplus(f64::from(alpha + dt)) as f32
}

/// `1 / (1 + e^-x)`
pub(crate) fn sigmoid(x: f32) -> f32 {
    unary::sigmoid(f64::from(x)) as f32
}

impl Job for Delta {
    fn run(&self, _: usize, worker: &mut Worker) -> Result<(), KernelError> {
        let [dim, heads, tokens, _] = self.v.shape();
        let key_heads = self.q.shape()[1];
        let simd = self.states.simd;
        let planes = self.states.to.shape()[3].min(self.states.from.shape()[3]);
        let slots = planes / self.states.snapshots;
        let mut segments = std::mem::take(&mut worker.segments);
        // SAFETY: inputs are not written while a program runs.
        unsafe { self.segments.segments(tokens, slots, &mut segments)? };
        let unit = self.raw.is_some();
        let most = segments.iter().map(|s| s.count as usize).max().unwrap_or(0);
        let rows = if unit { 2 * most * dim } else { 0 };
        let share = worker.share(heads, 1);
        let room = worker.floats(self.states.room() + rows);
        let (room, normed) = room.split_at_mut(self.states.room());
        for head in share {
            let key = key_head(self.map, head, heads, key_heads);
            for segment in &segments {
                let (row, count) = (segment.row as usize, segment.count as usize);
                // SAFETY: heads are shared out among workers; indices lie inside by shape rule and segment check; what is
                // read is not written in this phase.
                unsafe {
                    if let Some(Raw { eps, form, .. }) = self.raw {
                        for (part, view) in normed.chunks_mut(most * dim).zip([&self.q, &self.k]) {
                            for (i, target) in part.chunks_exact_mut(dim).take(count).enumerate() {
                                target.copy_from_slice(view.row([key, row + i, 0]));
                                let factor = l2_factor(simd, target, eps, form);
                                vector::scale(simd, factor, target);
                            }
                        }
                    }
                    let normed = &*normed;
                    let token = |i: usize| {
                        let at = [head, row + i, 0];
                        let (q, k) = if unit {
                            (&normed[i * dim..(i + 1) * dim], &normed[(most + i) * dim..(most + i + 1) * dim])
                        } else {
                            (self.q.row([key, row + i, 0]), self.k.row([key, row + i, 0]))
                        };
                        let (gate, beta) = self.strengths(head, row + i);
                        Token { q, k, v: self.v.row(at), gate, beta }
                    };
                    self.states.pass(segment, head, room, token, |i, out| {
                        self.out.row_mut([head, row + i, 0]).copy_from_slice(out);
                    });
                }
            }
        }
        worker.segments = segments;
        Ok(())
    }
}

impl Delta {
    /// Log decay and write strength of a token.
    ///
    /// # Safety
    /// Indices lie inside and nobody writes these operands now.
    unsafe fn strengths(&self, head: usize, token: usize) -> (f32, f32) {
        // SAFETY: by the caller's word.
        unsafe {
            match &self.raw {
                None => (self.gate.f32([0, head, token, 0]), self.beta.f32([0, head, token, 0])),
                Some(Raw { dt, a, .. }) => {
                    let (at, at_head) = ([head, token, 0, 0], [head, 0, 0, 0]);
                    let gate = decay(self.gate.f32(at), dt.f32(at_head), a.f32(at_head));
                    (gate, sigmoid(self.beta.f32(at)))
                }
            }
        }
    }
}
