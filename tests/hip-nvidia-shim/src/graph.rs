//! Captured work.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::driver::{driver, within};
use crate::{Handle, Status};
use std::ffi::{c_char, c_int};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamBeginCapture(stream: Handle, mode: c_int) -> Status {
    within(|| driver!("cuStreamBeginCapture_v2", (Handle, c_int), stream, mode))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamEndCapture(stream: Handle, graph: *mut Handle) -> Status {
    within(|| driver!("cuStreamEndCapture", (Handle, *mut Handle), stream, graph))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphInstantiate(
    executable: *mut Handle,
    graph: Handle,
    _node: *mut Handle,
    _log: *mut c_char,
    _bytes: usize,
) -> Status {
    within(|| driver!("cuGraphInstantiateWithFlags", (*mut Handle, Handle, u64), executable, graph, 0))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphLaunch(executable: Handle, stream: Handle) -> Status {
    within(|| driver!("cuGraphLaunch", (Handle, Handle), executable, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphExecDestroy(executable: Handle) -> Status {
    within(|| driver!("cuGraphExecDestroy", (Handle), executable))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGraphDestroy(graph: Handle) -> Status {
    within(|| driver!("cuGraphDestroy", (Handle), graph))
}
