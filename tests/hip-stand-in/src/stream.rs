//! Streams, events, and the work in them.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::memory::is_pinned;
use crate::status::{INVALID_HANDLE, INVALID_VALUE, LAUNCH_FAILURE, NOT_READY, SUCCESS, Status};
use crate::{Handle, Kernel, Launch, boxed, complain, give, lock};
use std::collections::VecDeque;
use std::ffi::c_uint;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Instant;

/// Something for the device to do. Addresses are numbers: the host keeps what lies there until the work is done.
#[derive(Clone)]
pub(crate) enum Work {
    Launch { kernel: Arc<dyn Kernel>, launch: Launch, arguments: Vec<u8> },
    Copy { to: usize, from: usize, bytes: usize },
    Upload { to: usize, from: Vec<u8> },
    Fill { to: usize, pattern: [u8; 4], bytes: usize },
    Record { event: Arc<Event> },
    Wait { event: Arc<Event> },
}

impl Work {
    fn run(&self) -> Status {
        match self {
            Work::Launch { kernel, launch, arguments } => {
                if let Err(fault) = kernel.launch(*launch, arguments) {
                    complain(&fault);
                    return LAUNCH_FAILURE;
                }
            }
            // SAFETY: the ends on the device were checked, those on the host are the host's.
            Work::Copy { to, from, bytes } => unsafe {
                std::ptr::copy(*from as *const u8, *to as *mut u8, *bytes);
            },
            // SAFETY: the end on the device was checked.
            Work::Upload { to, from } => unsafe {
                std::ptr::copy_nonoverlapping(from.as_ptr(), *to as *mut u8, from.len());
            },
            Work::Fill { to, pattern, bytes } => {
                // SAFETY: the range was checked.
                let all = unsafe { std::slice::from_raw_parts_mut(*to as *mut u8, *bytes) };
                for (byte, value) in all.iter_mut().zip(pattern.iter().cycle()) {
                    *byte = *value;
                }
            }
            Work::Record { event } => lock(&event.0).pass(),
            Work::Wait { event } => return event.wait(),
        }
        SUCCESS
    }
}

/// `hipStream_t`.
#[derive(Default)]
pub(crate) struct Stream(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    /// What is captured, while a capture runs.
    recording: Option<Vec<Work>>,
    /// What has not run yet.
    waiting: VecDeque<Work>,
    /// The first failure; every later call on the stream tells it.
    failed: Status,
}

impl Stream {
    /// Runs the next work. The queue stays locked, so that nothing overtakes it.
    fn step(&self) -> bool {
        let mut queue = lock(&self.0);
        let Some(work) = queue.waiting.pop_front() else { return false };
        let status = work.run();
        if queue.failed == SUCCESS {
            queue.failed = status;
        }
        true
    }

    fn finish(&self) -> Status {
        while self.step() {}
        lock(&self.0).failed
    }

    pub(crate) fn begin(&self) -> Status {
        lock(&self.0).recording = Some(Vec::new());
        SUCCESS
    }

    pub(crate) fn end(&self) -> Option<Vec<Work>> {
        lock(&self.0).recording.take()
    }
}

static STREAMS: Mutex<Vec<Weak<Stream>>> = Mutex::new(Vec::new());

/// The stream of a handle, or the one that every process has.
pub(crate) fn stream_of(handle: Handle) -> Arc<Stream> {
    static DEFAULT: OnceLock<Arc<Stream>> = OnceLock::new();
    if handle.is_null() {
        return Arc::clone(DEFAULT.get_or_init(register));
    }
    // SAFETY: the host's handles come from `hipStreamCreateWithFlags`.
    Arc::clone(unsafe { &*handle.cast::<Arc<Stream>>() })
}

fn register() -> Arc<Stream> {
    let stream = Arc::new(Stream::default());
    let mut all = lock(&STREAMS);
    all.retain(|stream| stream.strong_count() > 0);
    all.push(Arc::downgrade(&stream));
    stream
}

/// Runs all that waits in any stream.
pub(crate) fn finish_all() -> Status {
    let all: Vec<Arc<Stream>> = lock(&STREAMS).iter().filter_map(Weak::upgrade).collect();
    all.iter().map(|stream| stream.finish()).find(|status| *status != SUCCESS).unwrap_or(SUCCESS)
}

fn is_lazy() -> bool {
    static LAZY: OnceLock<bool> = OnceLock::new();
    *LAZY.get_or_init(|| std::env::var_os("HIP_STAND_IN_LAZY").is_some_and(|value| value == "1"))
}

/// Puts work into a stream; it runs at once unless the stream captures or everything runs late.
pub(crate) fn submit(handle: Handle, work: Work) -> Status {
    submit_all(handle, vec![work])
}

pub(crate) fn submit_all(handle: Handle, work: Vec<Work>) -> Status {
    let stream = stream_of(handle);
    {
        let mut queue = lock(&stream.0);
        if let Some(recorded) = queue.recording.as_mut() {
            recorded.extend(work);
            return SUCCESS;
        }
        for work in work {
            if let Work::Record { event } = &work {
                lock(&event.0).recorded_in(&stream);
            }
            queue.waiting.push_back(staged(work));
        }
    }
    // The runtime, too, waits before it returns where a copy ends in memory that it did not pin.
    let ends_here = matches!(lock(&stream.0).waiting.back(), Some(Work::Copy { to, bytes, .. }) if is_pageable(*to, *bytes));
    if is_lazy() && !ends_here { lock(&stream.0).failed } else { stream.finish() }
}

/// A copy from memory that is not pinned is read at once, as the runtime does.
fn staged(work: Work) -> Work {
    match work {
        Work::Copy { to, from, bytes } if is_pageable(from, bytes) => {
            // SAFETY: the host's memory, alive during the call.
            let from = unsafe { std::slice::from_raw_parts(from as *const u8, bytes) };
            Work::Upload { to, from: from.to_vec() }
        }
        other => other,
    }
}

fn is_pageable(start: usize, bytes: usize) -> bool {
    !is_pinned(start, bytes) && !crate::is_device(start, bytes)
}

/// `hipEvent_t`.
#[derive(Default)]
pub(crate) struct Event(Mutex<Mark>);

#[derive(Default)]
struct Mark {
    /// Where it was recorded, until it is passed.
    stream: Option<Arc<Stream>>,
    /// Records that are not passed yet.
    open: usize,
    passed: Option<Instant>,
}

impl Mark {
    fn recorded_in(&mut self, stream: &Arc<Stream>) {
        self.stream = Some(Arc::clone(stream));
        self.open += 1;
    }

    fn pass(&mut self) {
        self.open = self.open.saturating_sub(1);
        self.passed = Some(Instant::now());
        if self.open == 0 {
            self.stream = None;
        }
    }
}

impl Event {
    /// Runs the stream up to the mark.
    fn wait(&self) -> Status {
        loop {
            let Some(stream) = lock(&self.0).stream.clone() else { return SUCCESS };
            if !stream.step() {
                return lock(&stream.0).failed;
            }
        }
    }
}

fn event_of(handle: Handle) -> Option<Arc<Event>> {
    // SAFETY: the host's handles come from `hipEventCreateWithFlags`.
    unsafe { handle.cast::<Arc<Event>>().as_ref() }.map(Arc::clone)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> Status {
    finish_all()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut Handle, _flags: c_uint) -> Status {
    // SAFETY: the host's pointer.
    unsafe { give(stream, boxed(register())) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamDestroy(stream: Handle) -> Status {
    if stream.is_null() {
        return INVALID_HANDLE;
    }
    stream_of(stream).finish();
    // SAFETY: the host destroys a stream once.
    unsafe { crate::unboxed::<Arc<Stream>>(stream) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(stream: Handle) -> Status {
    stream_of(stream).finish()
}

/// Late work gets a step further with each question, so that a host that polls comes to an end.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamQuery(stream: Handle) -> Status {
    let stream = stream_of(stream);
    stream.step();
    let queue = lock(&stream.0);
    if queue.waiting.is_empty() { queue.failed } else { NOT_READY }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitEvent(stream: Handle, event: Handle, _flags: c_uint) -> Status {
    event_of(event).map_or(INVALID_HANDLE, |event| submit(stream, Work::Wait { event }))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut Handle, _flags: c_uint) -> Status {
    // SAFETY: the host's pointer.
    unsafe { give(event, boxed(Arc::new(Event::default()))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventDestroy(event: Handle) -> Status {
    // SAFETY: the host destroys an event once.
    unsafe { crate::unboxed::<Arc<Event>>(event) }.map_or(INVALID_HANDLE, |_| SUCCESS)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventRecord(event: Handle, stream: Handle) -> Status {
    event_of(event).map_or(INVALID_HANDLE, |event| submit(stream, Work::Record { event }))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(event: Handle) -> Status {
    event_of(event).map_or(INVALID_HANDLE, |event| event.wait())
}

#[unsafe(no_mangle)]
pub extern "C" fn hipEventQuery(event: Handle) -> Status {
    let Some(event) = event_of(event) else { return INVALID_HANDLE };
    let Some(stream) = lock(&event.0).stream.clone() else { return SUCCESS };
    stream.step();
    let failed = lock(&stream.0).failed;
    match (failed, lock(&event.0).stream.is_some()) {
        (SUCCESS, true) => NOT_READY,
        (failed, _) => failed,
    }
}

/// Wall time of the software: it says nothing of a GPU's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> Status {
    let (Some(start), Some(end)) = (event_of(start), event_of(end)) else { return INVALID_HANDLE };
    let time = |event: &Event| lock(&event.0).passed;
    match (time(&start), time(&end)) {
        // SAFETY: the host's pointer.
        (Some(start), Some(end)) => unsafe {
            give(milliseconds, end.saturating_duration_since(start).as_secs_f32() * 1e3)
        },
        _ => INVALID_VALUE,
    }
}
