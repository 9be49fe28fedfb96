//! What a plan for this chip moves and computes, and the time that takes at best.

use super::models::Model;
use std::collections::BTreeMap;
use weft::models::{Batch, Rows};
use weft_core::driver::{Offered, Options};
use weft_core::plan::{self, Cost, Plan};
use weft_tests::graphs::models::{described_with, graph, ubatch};

/// Bytes a second that other engines reach on the chip, and those of its memory.
pub const REACHED: f64 = 221e9;
pub const PEAK: f64 = 256e9;
/// Operations a second in f16 on its matrix units.
pub const MATRIX: f64 = 59e12;

/// Dispatches that launch the same entry points.
#[derive(Clone, Default)]
pub struct Work {
    pub launches: usize,
    pub bytes: u64,
    pub flops: u64,
    /// Seconds where each dispatch is limited by memory at [`REACHED`] or by [`MATRIX`], and with [`PEAK`].
    pub reached: f64,
    pub peak: f64,
}

impl Work {
    fn add(&mut self, launches: usize, cost: Cost) {
        let seconds = |bandwidth: f64| (cost.bytes as f64 / bandwidth).max(cost.flops as f64 / MATRIX);
        self.launches += launches;
        self.bytes += cost.bytes;
        self.flops += cost.flops;
        self.reached += seconds(REACHED);
        self.peak += seconds(PEAK);
    }

    pub fn join(&mut self, other: &Work) {
        self.launches += other.launches;
        self.bytes += other.bytes;
        self.flops += other.flops;
        self.reached += other.reached;
        self.peak += other.peak;
    }
}

/// The work of a step by entry points, the longest first.
pub struct Step {
    pub tokens: u64,
    pub groups: Vec<(String, Work)>,
}

impl Step {
    /// A step of so many tokens behind `depth` others.
    pub fn of(model: &Model, tokens: u64, depth: u64) -> Step {
        let model = described_with(model.arch, model.size, model.weights);
        let rows = if tokens == 1 { Rows::All } else { Rows::Some(1) };
        // The plan counts caches whole: this one holds just what is attended to.
        let batch = Batch { rows, cells: depth + tokens, sample: tokens == 1, ..ubatch(tokens) };
        let offers = weft_hip::offers();
        let offered = [Offered { name: "hip", offers: &offers }];
        let plan = plan::build(graph(&model, &batch), &offered, &Options::default()).expect("a plan");
        Step { tokens, groups: groups(&plan) }
    }

    pub fn total(&self) -> Work {
        let mut total = Work::default();
        self.groups.iter().for_each(|(_, work)| total.join(work));
        total
    }
}

fn groups(plan: &Plan) -> Vec<(String, Work)> {
    let mut entries = vec![Vec::new(); plan.dispatches.len()];
    for (index, entry) in weft_hip::entry_points(plan, 0).expect("launches") {
        entries[index].push(entry);
    }
    let mut all: BTreeMap<String, Work> = BTreeMap::new();
    for (dispatch, entries) in plan.dispatches.iter().zip(&entries) {
        all.entry(label(entries)).or_default().add(entries.len(), dispatch.cost);
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|(_, a), (_, b)| b.reached.total_cmp(&a.reached));
    all
}

fn label(entries: &[String]) -> String {
    entries.iter().map(|entry| format!("`{entry}`")).collect::<Vec<_>>().join(", ")
}
