//! Captured work.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::status::{INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, OUT_OF_MEMORY, SUCCESS, Status};
use crate::stream::{Work, stream_of, submit_all};
use crate::{Handle, boxed, give, unboxed};
use std::ffi::{c_char, c_int};

struct Graph(Vec<Work>);

/// Whether `HIP_STAND_IN_GRAPHS` asks for this fault.
fn is_faulty(fault: &str) -> bool {
    std::env::var_os("HIP_STAND_IN_GRAPHS").is_some_and(|value| value == fault)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamBeginCapture(stream: Handle, _mode: c_int) -> Status {
    if stream.is_null() { NOT_SUPPORTED } else { stream_of(stream).begin() }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamEndCapture(stream: Handle, graph: *mut Handle) -> Status {
    match stream_of(stream).end() {
        None => INVALID_VALUE,
        // SAFETY: the host's pointer.
        Some(work) => unsafe { give(graph, boxed(Graph(work))) },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphInstantiate(
    executable: *mut Handle,
    graph: Handle,
    _node: *mut Handle,
    _log: *mut c_char,
    _bytes: usize,
) -> Status {
    if is_faulty("refused") {
        return OUT_OF_MEMORY;
    }
    // SAFETY: the host's handle came from `hipStreamEndCapture`.
    let Some(graph) = (unsafe { graph.cast::<Graph>().as_ref() }) else { return INVALID_HANDLE };
    // SAFETY: the host's pointer.
    unsafe { give(executable, boxed(Graph(graph.0.clone()))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphLaunch(executable: Handle, stream: Handle) -> Status {
    // SAFETY: the host's handle came from `hipGraphInstantiate`.
    let Some(graph) = (unsafe { executable.cast::<Graph>().as_ref() }) else { return INVALID_HANDLE };
    let mut work = graph.0.clone();
    if is_faulty("short") {
        work.pop();
    }
    submit_all(stream, work)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecDestroy(executable: Handle) -> Status {
    // SAFETY: the host destroys it once.
    unsafe { unboxed::<Graph>(executable) }.map_or(INVALID_HANDLE, |_| SUCCESS)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphDestroy(graph: Handle) -> Status {
    // SAFETY: the host destroys it once.
    unsafe { unboxed::<Graph>(graph) }.map_or(INVALID_HANDLE, |_| SUCCESS)
}
