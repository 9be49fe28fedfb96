//! Times of launches on the device, by events. A profiled program puts two events around each launch, so it is slower as a
//! whole than one that does not; what it computes is the same.

use crate::stream::{Event, Stream};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use weft_core::backend::DeviceError;
use weft_core::plan::Plan;

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
pub(crate) struct Profile {
    sums: Mutex<BTreeMap<String, Timing>>,
}

impl Profile {
    /// Sums so far, the longest first; starts anew.
    pub(crate) fn take(&self) -> Vec<Timing> {
        let sums = std::mem::take(&mut *self.sums.lock().unwrap_or_else(PoisonError::into_inner));
        let mut all: Vec<Timing> = sums.into_values().collect();
        all.sort_by_key(|timing| std::cmp::Reverse(timing.time));
        all
    }
}

/// One launch's marks.
struct Mark {
    label: Timing,
    before: Event,
    after: Event,
    ran: AtomicBool,
}

/// Marks before and after each launch of a program.
pub(crate) struct Clock {
    marks: Vec<Mark>,
    profile: Arc<Profile>,
}

impl Clock {
    /// `indices` holds the dispatch of each launch. A dispatch's cost goes to its first launch.
    pub(crate) fn new(
        stream: &Arc<Stream>,
        plan: &Plan,
        indices: &[usize],
        profile: Arc<Profile>,
    ) -> Result<Self, DeviceError> {
        let mut marks = Vec::with_capacity(indices.len());
        for (at, index) in indices.iter().enumerate() {
            let dispatch = &plan.dispatches[*index];
            let number = indices[..at].iter().rev().take_while(|i| *i == index).count();
            let several = number > 0 || indices.get(at + 1) == Some(index);
            let weight =
                dispatch.bindings.iter().flatten().find(|b| ["weight", "w0", "gate"].contains(&b.port));
            let dtype = weight.map_or(String::new(), |b| format!(" {}", b.tensor.dtype()));
            let part = if several { format!(" #{number}") } else { String::new() };
            let first = u64::from(number == 0);
            let label = Timing {
                kernel: format!("{}/{}{dtype}{part}", dispatch.kernel, dispatch.variant),
                count: 1,
                bytes: dispatch.cost.bytes * first,
                flops: dispatch.cost.flops * first,
                ..Timing::default()
            };
            let (before, after) = (Event::new(stream)?, Event::new(stream)?);
            marks.push(Mark { label, before, after, ran: AtomicBool::new(false) });
        }
        Ok(Clock { marks, profile })
    }

    pub(crate) fn before(&self, launch: usize) -> Result<(), DeviceError> {
        self.marks[launch].before.record()
    }

    pub(crate) fn after(&self, launch: usize) -> Result<(), DeviceError> {
        self.marks[launch].ran.store(true, Ordering::Relaxed);
        self.marks[launch].after.record()
    }

    /// Waits for what was submitted and adds the times up.
    pub(crate) fn collect(&self, stream: &Stream) -> Result<(), DeviceError> {
        stream.synchronize()?;
        let mut sums = self.profile.sums.lock().unwrap_or_else(PoisonError::into_inner);
        for mark in self.marks.iter().filter(|mark| mark.ran.swap(false, Ordering::Relaxed)) {
            let time = Duration::from_secs_f32(mark.after.since(&mark.before)?.max(0.0) / 1e3);
            let sum = sums
                .entry(mark.label.kernel.clone())
                .or_insert_with(|| Timing { kernel: mark.label.kernel.clone(), ..Timing::default() });
            sum.count += 1;
            sum.time += time;
            sum.bytes += mark.label.bytes;
            sum.flops += mark.label.flops;
        }
        Ok(())
    }
}
