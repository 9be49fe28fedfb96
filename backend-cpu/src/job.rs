//! A dispatch compiled for this processor.

use crate::simd::Simd;
use crate::view::View;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use weft_core::contract::Constants;
use weft_core::kernels::KernelError;
use weft_core::plan::Dispatch;
use weft_core::segment::Segment;

/// One thread of a team, with memory of its own.
#[derive(Default)]
pub(crate) struct Worker {
    /// Which.
    pub index: usize,
    /// Of how many.
    pub count: usize,
    /// Floats for intermediate rows; kernels resize it and never shrink it.
    pub floats: Vec<f32>,
    /// Segments of the current dispatch.
    pub segments: Vec<Segment>,
}

impl Worker {
    /// This worker's share of `total` items, cut at multiples of `step`.
    pub(crate) fn share(&self, total: usize, step: usize) -> Range<usize> {
        let steps = total.div_ceil(step);
        let cut = |worker: usize| (steps * worker / self.count * step).min(total);
        cut(self.index)..cut(self.index + 1)
    }

    /// At least `count` floats.
    pub(crate) fn floats(&mut self, count: usize) -> &mut [f32] {
        if self.floats.len() < count {
            self.floats.resize(count, 0.0);
        }
        &mut self.floats[..count]
    }
}

/// A dispatch that every worker of a team runs its share of.
pub(crate) trait Job: Send + Sync {
    /// Stages with a barrier between them.
    fn stages(&self) -> usize {
        1
    }
    /// Runs one worker's share of a stage.
    fn run(&self, stage: usize, worker: &mut Worker) -> Result<(), KernelError>;
}

/// Memory that jobs of one phase share out among them; jobs of other phases reuse it.
#[derive(Default)]
pub(crate) struct ScratchPool(pub OnceLock<crate::memory::Memory>);

/// A part of a scratch pool.
#[derive(Clone)]
pub(crate) struct Scratch {
    pool: Arc<ScratchPool>,
    offset: usize,
}

impl Scratch {
    /// The first byte. Null before the program is complete.
    pub(crate) fn start(&self) -> *mut u8 {
        self.pool.0.get().map_or(std::ptr::null_mut(), |m| m.start().wrapping_add(self.offset))
    }
}

/// Shares out scratch memory while a program is compiled.
pub(crate) struct ScratchPlan {
    pub pool: Arc<ScratchPool>,
    used: usize,
    pub peak: usize,
    shared: HashMap<(usize, String), Scratch>,
}

impl ScratchPlan {
    pub(crate) fn new() -> Self {
        ScratchPlan { pool: Arc::default(), used: 0, peak: 0, shared: HashMap::new() }
    }

    /// Begins a phase: everything handed out before may be reused.
    pub(crate) fn next_phase(&mut self) {
        self.used = 0;
        self.shared.clear();
    }

    /// `bytes` of scratch for one job.
    pub(crate) fn take(&mut self, bytes: usize) -> Scratch {
        let offset = self.used;
        self.used += bytes.next_multiple_of(256);
        self.peak = self.peak.max(self.used);
        Scratch { pool: Arc::clone(&self.pool), offset }
    }

    /// Scratch that jobs of one phase share if they derive the same thing from the same operand. The second value is
    /// true for the first of them, which must fill it.
    pub(crate) fn share(&mut self, view: &View, what: &str, bytes: usize) -> (Scratch, bool) {
        let key = (view.base as usize, format!("{what} {:?}", view.layout));
        if let Some(known) = self.shared.get(&key) {
            return (known.clone(), false);
        }
        let scratch = self.take(bytes);
        self.shared.insert(key, scratch.clone());
        (scratch, true)
    }
}

/// What a kernel gets to build a job from.
pub(crate) struct Args<'a> {
    pub dispatch: &'a Dispatch,
    pub views: &'a [Option<View>],
    pub simd: Simd,
    pub workers: usize,
    pub scratch: &'a mut ScratchPlan,
}

impl Args<'_> {
    /// A bound port.
    pub(crate) fn view(&self, port: &'static str) -> Result<View, KernelError> {
        self.maybe(port).ok_or(KernelError::Unbound { port })
    }

    /// A port that may be unbound.
    pub(crate) fn maybe(&self, port: &str) -> Option<View> {
        self.views.iter().flatten().find(|view| view.name == port).copied()
    }

    pub(crate) fn constants(&self) -> &Constants {
        &self.dispatch.constants
    }
}
