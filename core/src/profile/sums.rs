//! Launches added up by dispatch, and dispatches by kernel.

use super::{Label, Launch, Timed};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Time spent in the dispatches of one kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// The kernel, its variant and the type of its weight.
    pub kernel: String,
    /// Dispatches.
    pub count: u64,
    /// In all. Where workers share a dispatch, that of the one that is busy longest.
    pub time: Duration,
    /// The same by launch, where a dispatch makes several.
    pub parts: Vec<Duration>,
    /// Bytes that the dispatches move, by the plan's estimate.
    pub bytes: u64,
    /// Floating-point operations of the dispatches, by the plan's estimate.
    pub flops: u64,
    /// Whether bytes and operations are upper bounds, so that no rate follows.
    pub at_most: bool,
}

impl Timing {
    /// Bytes moved in a second, where they are known.
    pub fn rate(&self) -> Option<f64> {
        (!self.at_most).then(|| per_second(self.bytes, self.time))
    }

    /// Operations in a second, where they are known.
    pub fn flop_rate(&self) -> Option<f64> {
        (!self.at_most).then(|| per_second(self.flops, self.time))
    }
}

/// So many in this time, by second; 0 if it took no time.
pub(super) fn per_second(count: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { count as f64 / time.as_secs_f64() }
}

/// One dispatch of one submission.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub program: Arc<Timed>,
    /// Its first launch.
    pub launch: usize,
    pub start: Duration,
    /// By lane, the time of its launches.
    lanes: BTreeMap<usize, Duration>,
    /// By launch, where there are several.
    parts: Vec<Duration>,
}

impl Ran {
    pub(super) fn label(&self) -> &Label {
        &self.program.labels[self.launch]
    }

    /// The time of the lane that was busy longest.
    pub(super) fn time(&self) -> Duration {
        self.lanes.values().max().copied().unwrap_or_default()
    }
}

/// What tells a dispatch of a submission from all others: program, submission, dispatch.
pub(super) type Key = (usize, u64, usize);

pub(super) fn key(launch: &Launch) -> Key {
    let dispatch = launch.program.labels.get(launch.launch).map_or(0, |label| label.dispatch);
    (Arc::as_ptr(&launch.program).addr(), launch.run, dispatch)
}

/// Launches added up by dispatch. Those that their program does not know are left out.
pub(super) fn dispatches(launches: &[Launch]) -> BTreeMap<Key, Ran> {
    let mut all: BTreeMap<Key, Ran> = BTreeMap::new();
    for launch in launches {
        let Some(label) = launch.program.labels.get(launch.launch) else { continue };
        let ran = all.entry(key(launch)).or_insert_with(|| Ran {
            program: Arc::clone(&launch.program),
            launch: launch.launch,
            start: launch.start,
            lanes: BTreeMap::new(),
            parts: Vec::new(),
        });
        ran.launch = ran.launch.min(launch.launch);
        ran.start = ran.start.min(launch.start);
        *ran.lanes.entry(launch.lane).or_default() += launch.time;
        if let Some(part) = label.part {
            ran.parts.resize(ran.parts.len().max(part + 1), Duration::ZERO);
            ran.parts[part] += launch.time;
        }
    }
    all
}

/// Dispatches added up by kernel, the longest first.
pub(super) fn by_kernel(dispatches: &[Ran]) -> Vec<Timing> {
    let mut sums: BTreeMap<&str, Timing> = BTreeMap::new();
    for ran in dispatches {
        let label = ran.label();
        let sum = sums
            .entry(&label.kernel)
            .or_insert_with(|| Timing { kernel: label.kernel.clone(), ..Timing::default() });
        sum.at_most |= label.at_most;
        sum.count += 1;
        sum.time += ran.time();
        sum.bytes = sum.bytes.saturating_add(label.bytes);
        sum.flops = sum.flops.saturating_add(label.flops);
        sum.parts.resize(sum.parts.len().max(ran.parts.len()), Duration::ZERO);
        sum.parts.iter_mut().zip(&ran.parts).for_each(|(sum, part)| *sum += *part);
    }
    let mut all: Vec<Timing> = sums.into_values().collect();
    all.sort_by_key(|timing| std::cmp::Reverse(timing.time));
    all
}
