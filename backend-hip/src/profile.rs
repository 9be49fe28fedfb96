//! Times of launches on the device, by events. A profiled program puts two events around each launch, so it is slower as a
//! whole than one that does not; what it computes is the same.

use crate::stream::{Event, Stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use weft_core::backend::DeviceError;
use weft_core::plan::Plan;
use weft_core::profile::{Label, Profile, labels};

/// One launch's marks.
struct Mark {
    label: Label,
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
    /// `indices` holds the dispatch of each launch.
    pub(crate) fn new(
        stream: &Arc<Stream>,
        plan: &Plan,
        indices: &[usize],
        profile: Arc<Profile>,
    ) -> Result<Self, DeviceError> {
        let mark = |label| -> Result<Mark, DeviceError> {
            let (before, after) = (Event::new(stream)?, Event::new(stream)?);
            Ok(Mark { label, before, after, ran: AtomicBool::new(false) })
        };
        let marks = labels(plan, indices).into_iter().map(mark).collect::<Result<_, _>>()?;
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
        for mark in self.marks.iter().filter(|mark| mark.ran.swap(false, Ordering::Relaxed)) {
            let time = Duration::from_secs_f32(mark.after.since(&mark.before)?.max(0.0) / 1e3);
            self.profile.add(&mark.label, time);
        }
        Ok(())
    }
}
