//! Numbers and names of errors.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};

pub type Error = c_int;

pub const SUCCESS: Error = 0;
pub const INVALID_VALUE: Error = 1;
pub const OUT_OF_MEMORY: Error = 2;
pub const INVALID_DEVICE: Error = 101;
pub const INVALID_IMAGE: Error = 200;
pub const NO_BINARY_FOR_GPU: Error = 209;
pub const INVALID_HANDLE: Error = 400;
pub const NOT_FOUND: Error = 500;
pub const NOT_READY: Error = 600;
pub const LAUNCH_FAILURE: Error = 719;
pub const NOT_SUPPORTED: Error = 801;
pub const STREAM_CAPTURE_UNSUPPORTED: Error = 900;
pub const ILLEGAL_STATE: Error = 401;
pub const UNKNOWN: Error = 999;

thread_local! {
    static LAST: Cell<Error> = const { Cell::new(SUCCESS) };
}

/// "Not ready" is an answer, not an error.
pub(super) fn remember(error: Error) {
    if error != NOT_READY {
        LAST.set(error);
    }
}

fn describe(error: Error) -> (&'static CStr, &'static CStr) {
    match error {
        SUCCESS => (c"hipSuccess", c"no error"),
        INVALID_VALUE => (c"hipErrorInvalidValue", c"invalid argument"),
        OUT_OF_MEMORY => (c"hipErrorOutOfMemory", c"out of memory"),
        3 => (c"hipErrorNotInitialized", c"initialization error"),
        4 => (c"hipErrorDeinitialized", c"driver shutting down"),
        100 => (c"hipErrorNoDevice", c"no ROCm-capable device is detected"),
        INVALID_DEVICE => (c"hipErrorInvalidDevice", c"invalid device ordinal"),
        INVALID_IMAGE => (c"hipErrorInvalidImage", c"device kernel image is invalid"),
        201 => (c"hipErrorInvalidContext", c"invalid device context"),
        NO_BINARY_FOR_GPU => {
            (c"hipErrorNoBinaryForGpu", c"no kernel image is available for execution on the device")
        }
        INVALID_HANDLE => (c"hipErrorInvalidHandle", c"invalid resource handle"),
        ILLEGAL_STATE => (c"hipErrorIllegalState", c"the operation cannot be performed in the present state"),
        NOT_FOUND => (c"hipErrorNotFound", c"named symbol not found"),
        NOT_READY => (c"hipErrorNotReady", c"device not ready"),
        700 => (c"hipErrorIllegalAddress", c"an illegal memory access was encountered"),
        LAUNCH_FAILURE => (c"hipErrorLaunchFailure", c"unspecified launch failure"),
        NOT_SUPPORTED => (c"hipErrorNotSupported", c"operation not supported"),
        STREAM_CAPTURE_UNSUPPORTED => {
            (c"hipErrorStreamCaptureUnsupported", c"operation not permitted when stream is capturing")
        }
        _ => (c"hipErrorUnknown", c"unknown error"),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(error: Error) -> *const c_char {
    describe(error).0.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(error: Error) -> *const c_char {
    describe(error).1.as_ptr()
}

/// The last error of this thread, which is then forgotten.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> Error {
    LAST.replace(SUCCESS)
}
