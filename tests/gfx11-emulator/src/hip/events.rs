//! Events.

use std::ffi::c_uint;
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

use super::queue::{Work, advance, finish};
use super::streams::put;
use super::{Error, Handle, Handles, INVALID_HANDLE, INVALID_VALUE, NOT_READY, give, locked, status};

const NO_TIMING: c_uint = 2;

/// How often it was recorded and reached, and when last.
pub(super) struct Event {
    has_timing: bool,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    recorded: u64,
    reached: u64,
    /// The one that it was recorded in last.
    stream: usize,
    at: Option<Instant>,
}

impl Event {
    pub(super) fn reach(&self, at: Instant) {
        let mut progress = locked(&self.progress);
        progress.reached += 1;
        progress.at = Some(at);
    }

    fn stream(&self) -> Handle {
        locked(&self.progress).stream as Handle
    }

    fn is_reached(&self) -> bool {
        let progress = locked(&self.progress);
        progress.reached >= progress.recorded
    }
}

pub(super) static EVENTS: LazyLock<Handles<Event>> = LazyLock::new(Handles::new);

/// # Safety
/// `event` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut Handle, flags: c_uint) -> Error {
    let made = Event { has_timing: flags & NO_TIMING == 0, progress: Mutex::default() };
    // SAFETY: the caller's promise.
    status(if event.is_null() { Err(INVALID_VALUE) } else { unsafe { give(event, EVENTS.add(made)) } })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventDestroy(event: Handle) -> Error {
    status(EVENTS.remove(event).map(|_| ()))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventRecord(event: Handle, stream: Handle) -> Error {
    status(EVENTS.get(event).and_then(|event| {
        let mut progress = locked(&event.progress);
        progress.recorded += 1;
        progress.stream = stream as usize;
        drop(progress);
        put(stream, Work::Record(event))
    }))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(event: Handle) -> Error {
    status(
        EVENTS.get(event).and_then(|event| if event.is_reached() { Ok(()) } else { finish(event.stream()) }),
    )
}

/// As [`super::hipStreamQuery`]: each query runs one piece of work.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventQuery(event: Handle) -> Error {
    status(EVENTS.get(event).and_then(|event| {
        if event.is_reached() {
            return Ok(());
        }
        advance();
        Err(NOT_READY)
    }))
}

/// Time of the emulation: it says nothing of a GPU's.
///
/// # Safety
/// `milliseconds` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> Error {
    let time = |event: Handle| {
        let event = EVENTS.get(event)?;
        if !event.has_timing {
            return Err(INVALID_HANDLE);
        }
        if !event.is_reached() {
            return Err(NOT_READY);
        }
        locked(&event.progress).at.ok_or(INVALID_HANDLE)
    };
    status(time(start).and_then(|start| Ok((start, time(end)?))).and_then(|(start, end)| {
        // SAFETY: the caller's promise.
        unsafe { give(milliseconds, end.duration_since(start).as_secs_f32() * 1e3) }
    }))
}
