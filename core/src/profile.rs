//! Times of a device's launches, added up by kernel.

use crate::plan::Plan;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Time spent in the launches of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// The kernel, its variant and, where a dispatch makes several launches, which of them.
    pub kernel: String,
    /// How often it ran.
    pub count: u64,
    /// In all.
    pub time: Duration,
    /// Bytes that its dispatches move, by the plan's estimate.
    pub bytes: u64,
    /// Arithmetic that its dispatches do, by the plan's estimate.
    pub flops: u64,
}

/// Sums over all submissions of a device.
#[derive(Default)]
pub struct Profile {
    sums: Mutex<BTreeMap<String, Timing>>,
}

impl Profile {
    /// Sums so far, the longest first; starts anew.
    pub fn take(&self) -> Vec<Timing> {
        let sums = std::mem::take(&mut *self.sums.lock().unwrap_or_else(PoisonError::into_inner));
        let mut all: Vec<Timing> = sums.into_values().collect();
        all.sort_by_key(|timing| std::cmp::Reverse(timing.time));
        all
    }

    /// Adds one run of a launch.
    pub fn add(&self, label: &Label, time: Duration) {
        let mut sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let sum = sums
            .entry(label.kernel.clone())
            .or_insert_with(|| Timing { kernel: label.kernel.clone(), ..Timing::default() });
        sum.count += 1;
        sum.time += time;
        sum.bytes += label.bytes;
        sum.flops += label.flops;
    }
}

/// What a launch is counted under.
#[derive(Clone, Debug, Default)]
pub struct Label {
    kernel: String,
    bytes: u64,
    flops: u64,
}

/// The labels of launches; `indices` holds the dispatch of each. A dispatch's cost goes to its first launch.
pub fn labels(plan: &Plan, indices: &[usize]) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::with_capacity(indices.len());
    for (at, index) in indices.iter().enumerate() {
        let dispatch = &plan.dispatches[*index];
        let number = indices[..at].iter().rev().take_while(|i| *i == index).count();
        let several = number > 0 || indices.get(at + 1) == Some(index);
        let weight = dispatch
            .bindings
            .iter()
            .flatten()
            .find(|b| b.port == "weight" || b.port == "w0" || b.port == "gate");
        let dtype = weight.map_or(String::new(), |b| format!(" {}", b.tensor.dtype()));
        let part = if several { format!(" #{number}") } else { String::new() };
        let first = number == 0;
        labels.push(Label {
            kernel: format!("{}/{}{dtype}{part}", dispatch.kernel, dispatch.variant),
            bytes: if first { dispatch.cost.bytes } else { 0 },
            flops: if first { dispatch.cost.flops } else { 0 },
        });
    }
    labels
}
