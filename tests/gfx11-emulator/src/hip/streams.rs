//! Streams, which are ordered, and what a stream records instead of running it.

use std::ffi::{c_int, c_uint};
use std::sync::{LazyLock, Mutex};

use super::events::EVENTS;
use super::graphs::{GRAPHS, Graph};
use super::queue::{Work, advance, finish, is_idle, submit};
use super::{
    Error, Handle, Handles, ILLEGAL_STATE, INVALID_VALUE, NOT_READY, STREAM_CAPTURE_UNSUPPORTED, give,
    locked, status,
};

#[derive(Default)]
pub(super) struct Stream {
    recording: Mutex<Option<Vec<Work>>>,
}

static STREAMS: LazyLock<Handles<Stream>> = LazyLock::new(Handles::new);

/// Submits or records. The null stream never records.
pub(super) fn put(stream: Handle, work: Work) -> Result<(), Error> {
    if !stream.is_null()
        && let Some(recorded) = locked(&STREAMS.get(stream)?.recording).as_mut()
    {
        recorded.push(work);
        return Ok(());
    }
    submit(stream, work)
}

/// Whether the stream exists and may be waited for.
fn awaited(stream: Handle) -> Result<(), Error> {
    if !stream.is_null() && locked(&STREAMS.get(stream)?.recording).is_some() {
        return Err(STREAM_CAPTURE_UNSUPPORTED);
    }
    Ok(())
}

/// # Safety
/// `stream` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut Handle, flags: c_uint) -> Error {
    if flags > 1 || stream.is_null() {
        return status(Err(INVALID_VALUE));
    }
    // SAFETY: the caller's promise.
    status(unsafe { give(stream, STREAMS.add(Stream::default())) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamDestroy(stream: Handle) -> Error {
    status(STREAMS.remove(stream).map(|_| ()))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(stream: Handle) -> Error {
    status(awaited(stream).and_then(|()| finish(stream)))
}

/// Each query runs one piece of work, so that asking again and again comes to an end.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamQuery(stream: Handle) -> Error {
    status(awaited(stream).and_then(|()| {
        if is_idle() {
            return finish(stream);
        }
        advance();
        Err(NOT_READY)
    }))
}

/// Nothing to do: all streams are in one order, and the event was recorded before.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> Error {
    let known = if stream.is_null() { Ok(()) } else { STREAMS.get(stream).map(|_| ()) };
    let valid = if flags == 0 { Ok(()) } else { Err(INVALID_VALUE) };
    status(known.and(valid).and_then(|()| EVENTS.get(event).map(|_| ())))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipStreamBeginCapture(stream: Handle, mode: c_int) -> Error {
    status((0..3).contains(&mode).then_some(()).ok_or(INVALID_VALUE).and_then(|()| {
        let stream = STREAMS.get(stream)?;
        let mut recording = locked(&stream.recording);
        if recording.is_some() {
            return Err(ILLEGAL_STATE);
        }
        *recording = Some(Vec::new());
        Ok(())
    }))
}

/// # Safety
/// `graph` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamEndCapture(stream: Handle, graph: *mut Handle) -> Error {
    status(STREAMS.get(stream).and_then(|stream| {
        let recorded = locked(&stream.recording).take().ok_or(ILLEGAL_STATE)?;
        // SAFETY: the caller's promise.
        unsafe { give(graph, GRAPHS.add(Graph(recorded))) }
    }))
}
