//! Times of a device's launches and of the host's work, on one clock.
//!
//! A backend that is opened with a [`Profile`] compiles programs whose launches are timed: a variant of their own, which computes
//! the same and is slower as a whole. What is written of it names the plan and says that it was timed ([`Timed::variant`]).

mod sums;
mod table;
mod trace;

pub use sums::Timing;

use crate::plan::Plan;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Launches and spans that a profile holds at most, of each; later ones are counted as dropped.
pub const MOST_EVENTS: usize = 4_000_000;

/// Spans of the host that sort launches: what ran during one belongs to it.
pub const PHASES: [&str; 3] = ["prefill", "draft", "decode"];

/// What a launch computes and costs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    /// The kernel, its variant and, where there is one, the type of its weight.
    pub kernel: String,
    /// Index of the dispatch in the plan.
    pub dispatch: usize,
    /// Which of the dispatch's launches, where it makes several.
    pub part: Option<usize>,
    /// The rule that proposed the dispatch.
    pub rule: &'static str,
    /// The last node that the dispatch computes, in words.
    pub node: String,
    /// Bytes that the dispatch moves, by the plan's estimate.
    pub bytes: u64,
    /// Floating-point operations of the dispatch, by the plan's estimate.
    pub flops: u64,
    /// Whether both count whole caches, of which a run uses as much as is filled: then they are bounds, and no rate follows.
    pub at_most: bool,
}

/// A program whose launches are timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The device's name in plans.
    pub device: String,
    /// The hash of the plan, which is that of the same plan untimed.
    pub plan: u64,
    /// By launch.
    pub labels: Vec<Label>,
}

impl Timed {
    /// Launches of a plan's device; `indices` holds the dispatch of each.
    pub fn of(plan: &Plan, device: usize, indices: &[usize]) -> Arc<Self> {
        let labels = indices.iter().enumerate().map(|(at, index)| {
            let dispatch = &plan.dispatches[*index];
            let number = indices[..at].iter().rev().take_while(|i| *i == index).count();
            let several = number > 0 || indices.get(at + 1) == Some(index);
            let bound = |port: &str| dispatch.bindings.iter().flatten().any(|b| b.port == port);
            let weight = |port: &str| matches!(port, "weight" | "w0" | "gate");
            let weight = dispatch.bindings.iter().flatten().find(|b| weight(b.port));
            let dtype = weight.map_or(String::new(), |b| format!(" {}", b.tensor.dtype()));
            Label {
                kernel: format!("{}/{}{dtype}", dispatch.kernel, dispatch.variant),
                dispatch: *index,
                part: several.then_some(number),
                rule: dispatch.rule,
                node: dispatch.nodes.last().map_or_else(String::new, |node| plan.graph.describe(*node)),
                bytes: dispatch.cost.bytes,
                flops: dispatch.cost.flops,
                at_most: ["k", "segments"].iter().all(|port| bound(port)),
            }
        });
        let name = plan.devices[device].name.clone();
        Arc::new(Timed { device: name, plan: plan.hash, labels: labels.collect() })
    }

    /// What tells this program from the one that is not timed.
    pub fn variant(&self) -> String {
        format!("{:016x}+timed", self.plan)
    }
}

/// One lane's part of one launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: Arc<Timed>,
    /// Which of its launches.
    pub launch: usize,
    /// Which submission of the program.
    pub run: u64,
    /// Which of the workers that share a launch; 0 on a GPU.
    pub lane: usize,
    /// Since the profile began. A GPU's last launch ends, on this clock, when the host sees it end.
    pub start: Duration,
    /// How long it took.
    pub time: Duration,
}

/// Work of the host, from beginning to end.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What was done.
    pub name: &'static str,
    /// Spans around it.
    pub depth: usize,
    /// Since the profile began.
    pub start: Duration,
    /// How long it took.
    pub time: Duration,
    /// More about it.
    pub fields: Vec<(&'static str, String)>,
}

/// A device whose launches are timed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    /// It in words.
    pub words: String,
    /// Bytes that a copy reads and writes there in a second, if that was measured.
    pub copy: Option<f64>,
}

#[derive(Default)]
struct Recorded {
    launches: Vec<Launch>,
    spans: Vec<Span>,
    devices: BTreeMap<String, Device>,
    dropped: u64,
}

/// What was recorded since it began.
pub struct Profile {
    began: Instant,
    recorded: Mutex<Recorded>,
}

impl std::fmt::Debug for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Profile")
    }
}

impl Default for Profile {
    fn default() -> Self {
        Profile { began: Instant::now(), recorded: Mutex::default() }
    }
}

impl Profile {
    /// The time since it began.
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Tells what a device is and reaches.
    pub fn device(&self, name: &str, device: Device) {
        self.recorded().devices.insert(name.to_owned(), device);
    }

    /// Adds launches that have ended.
    pub fn launched(&self, launches: impl IntoIterator<Item = Launch>) {
        let recorded = &mut *self.recorded();
        for launch in launches {
            keep(&mut recorded.launches, launch, &mut recorded.dropped);
        }
    }

    /// Adds work of the host that has ended.
    pub fn span(&self, span: Span) {
        let recorded = &mut *self.recorded();
        keep(&mut recorded.spans, span, &mut recorded.dropped);
    }

    /// Times by kernel since the last call, the longest first; launches are forgotten.
    pub fn take(&self) -> Vec<Timing> {
        let launches = std::mem::take(&mut self.recorded().launches);
        sums::by_kernel(&sums::dispatches(&launches).into_values().collect::<Vec<_>>())
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keep<T>(all: &mut Vec<T>, one: T, dropped: &mut u64) {
    if all.len() < MOST_EVENTS {
        all.push(one);
    } else {
        *dropped += 1;
    }
}
