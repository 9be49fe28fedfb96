//! `hipError_t`, as far as it occurs here.

use std::ffi::{CStr, c_char, c_int};

/// `hipError_t`.
pub type Status = c_int;

pub(crate) const SUCCESS: Status = 0;
pub(crate) const INVALID_VALUE: Status = 1;
pub(crate) const OUT_OF_MEMORY: Status = 2;
pub(crate) const INVALID_DEVICE: Status = 101;
pub(crate) const INVALID_IMAGE: Status = 200;
pub(crate) const NO_BINARY_FOR_GPU: Status = 209;
pub(crate) const INVALID_HANDLE: Status = 400;
pub(crate) const NOT_FOUND: Status = 500;
pub(crate) const NOT_READY: Status = 600;
pub(crate) const LAUNCH_FAILURE: Status = 719;
pub(crate) const NOT_SUPPORTED: Status = 801;

fn words(status: Status) -> (&'static CStr, &'static CStr) {
    match status {
        SUCCESS => (c"hipSuccess", c"no error"),
        INVALID_VALUE => (c"hipErrorInvalidValue", c"invalid argument"),
        OUT_OF_MEMORY => (c"hipErrorOutOfMemory", c"out of memory"),
        INVALID_DEVICE => (c"hipErrorInvalidDevice", c"invalid device ordinal"),
        INVALID_IMAGE => (c"hipErrorInvalidImage", c"device kernel image is invalid"),
        NO_BINARY_FOR_GPU => {
            (c"hipErrorNoBinaryForGpu", c"no kernel image is available for execution on the device")
        }
        INVALID_HANDLE => (c"hipErrorInvalidHandle", c"invalid resource handle"),
        NOT_FOUND => (c"hipErrorNotFound", c"named symbol not found"),
        NOT_READY => (c"hipErrorNotReady", c"device not ready"),
        LAUNCH_FAILURE => (c"hipErrorLaunchFailure", c"unspecified launch failure"),
        NOT_SUPPORTED => (c"hipErrorNotSupported", c"operation not supported"),
        _ => (c"hipErrorUnknown", c"unknown error"),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(status: Status) -> *const c_char {
    words(status).0.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(status: Status) -> *const c_char {
    words(status).1.as_ptr()
}

/// Every call tells its own error here; none is kept.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> Status {
    SUCCESS
}
