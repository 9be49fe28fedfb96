//! Times of launches on the device, by events. A profiled program puts two events around each launch, so it is slower as a
//! whole than one that does not; what it computes is the same.

use crate::stream::{Event, Stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use weft_core::backend::{DeviceError, Ticket};
use weft_core::profile::{Launch, Profile, Timed};

/// One launch's marks.
struct Mark {
    before: Event,
    after: Event,
    ran: AtomicBool,
}

/// Marks before and after each launch of a program.
pub(crate) struct Clock {
    marks: Vec<Mark>,
    program: Arc<Timed>,
    profile: Arc<Profile>,
}

impl Clock {
    pub(crate) fn new(
        stream: &Arc<Stream>,
        program: Arc<Timed>,
        profile: Arc<Profile>,
    ) -> Result<Self, DeviceError> {
        let mark = |_| -> Result<Mark, DeviceError> {
            let (before, after) = (Event::new(stream)?, Event::new(stream)?);
            Ok(Mark { before, after, ran: AtomicBool::new(false) })
        };
        let marks = program.labels.iter().map(mark).collect::<Result<_, _>>()?;
        Ok(Clock { marks, program, profile })
    }

    pub(crate) fn before(&self, launch: usize) -> Result<(), DeviceError> {
        self.marks[launch].before.record()
    }

    pub(crate) fn after(&self, launch: usize) -> Result<(), DeviceError> {
        self.marks[launch].ran.store(true, Ordering::Relaxed);
        self.marks[launch].after.record()
    }

    /// Waits for what was submitted and reads its times.
    pub(crate) fn collect(&self, stream: &Stream, ticket: Ticket) -> Result<(), DeviceError> {
        stream.synchronize()?;
        let ended = self.profile.now();
        let ran = |(_, mark): &(usize, &Mark)| mark.ran.swap(false, Ordering::Relaxed);
        let marks: Vec<(usize, &Mark)> = self.marks.iter().enumerate().filter(ran).collect();
        let Some((_, last)) = marks.last() else { return Ok(()) };
        let time = |to: &Event, from: &Event| -> Result<Duration, DeviceError> {
            Ok(Duration::from_secs_f32(to.since(from)?.max(0.0) / 1e3))
        };
        let mut launches = Vec::with_capacity(marks.len());
        for (launch, mark) in &marks {
            launches.push(Launch {
                program: Arc::clone(&self.program),
                launch: *launch,
                run: ticket.0,
                lane: 0,
                // The device's clock has a beginning of its own.
                start: ended.saturating_sub(time(&last.after, &mark.before)?),
                time: time(&mark.after, &mark.before)?,
            });
        }
        self.profile.launched(launches);
        Ok(())
    }
}
