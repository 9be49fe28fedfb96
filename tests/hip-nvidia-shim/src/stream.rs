//! Streams and events, one for one.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::driver::{driver, within};
use crate::{Handle, Status};
use std::ffi::c_uint;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut Handle, flags: c_uint) -> Status {
    within(|| driver!("cuStreamCreate", (*mut Handle, c_uint), stream, flags & 1))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamDestroy(stream: Handle) -> Status {
    within(|| driver!("cuStreamDestroy_v2", (Handle), stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamSynchronize(stream: Handle) -> Status {
    within(|| driver!("cuStreamSynchronize", (Handle), stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamQuery(stream: Handle) -> Status {
    within(|| driver!("cuStreamQuery", (Handle), stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> Status {
    within(|| driver!("cuStreamWaitEvent", (Handle, Handle, c_uint), stream, event, flags))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut Handle, flags: c_uint) -> Status {
    within(|| driver!("cuEventCreate", (*mut Handle, c_uint), event, flags & 3))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventDestroy(event: Handle) -> Status {
    within(|| driver!("cuEventDestroy_v2", (Handle), event))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventRecord(event: Handle, stream: Handle) -> Status {
    within(|| driver!("cuEventRecord", (Handle, Handle), event, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventSynchronize(event: Handle) -> Status {
    within(|| driver!("cuEventSynchronize", (Handle), event))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventQuery(event: Handle) -> Status {
    within(|| driver!("cuEventQuery", (Handle), event))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> Status {
    within(|| driver!("cuEventElapsedTime", (*mut f32, Handle, Handle), milliseconds, start, end))
}
