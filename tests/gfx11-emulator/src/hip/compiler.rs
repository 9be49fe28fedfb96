//! The run-time compiler, which there is none of: every call says so.

use std::ffi::{c_char, c_int, c_void};

/// `HIPRTC_ERROR_INTERNAL_ERROR`, and the one for a null pointer.
const INTERNAL_ERROR: c_int = 11;
const INVALID_INPUT: c_int = 3;

/// # Safety
/// Both are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> c_int {
    if major.is_null() || minor.is_null() {
        return INVALID_INPUT;
    }
    // SAFETY: the caller's promise.
    unsafe {
        major.write(0);
        minor.write(0);
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn hiprtcGetErrorString(error: c_int) -> *const c_char {
    match error {
        0 => c"HIPRTC_SUCCESS".as_ptr(),
        INVALID_INPUT => c"HIPRTC_ERROR_INVALID_INPUT".as_ptr(),
        _ => c"HIPRTC_ERROR_INTERNAL_ERROR: the emulator has no run-time compiler".as_ptr(),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn hiprtcCreateProgram(
    _program: *mut *mut c_void,
    _source: *const c_char,
    _name: *const c_char,
    _count: c_int,
    _headers: *const *const c_char,
    _names: *const *const c_char,
) -> c_int {
    INTERNAL_ERROR
}

#[unsafe(no_mangle)]
pub extern "C" fn hiprtcCompileProgram(
    _program: *mut c_void,
    _count: c_int,
    _options: *const *const c_char,
) -> c_int {
    INTERNAL_ERROR
}

#[unsafe(no_mangle)]
pub extern "C" fn hiprtcGetProgramLogSize(_program: *mut c_void, _bytes: *mut usize) -> c_int {
    INTERNAL_ERROR
}

#[unsafe(no_mangle)]
pub extern "C" fn hiprtcGetProgramLog(_program: *mut c_void, _log: *mut c_char) -> c_int {
    INTERNAL_ERROR
}

#[unsafe(no_mangle)]
pub extern "C" fn hiprtcGetCodeSize(_program: *mut c_void, _bytes: *mut usize) -> c_int {
    INTERNAL_ERROR
}

#[unsafe(no_mangle)]
pub extern "C" fn hiprtcGetCode(_program: *mut c_void, _code: *mut c_char) -> c_int {
    INTERNAL_ERROR
}

#[unsafe(no_mangle)]
pub extern "C" fn hiprtcDestroyProgram(_program: *mut *mut c_void) -> c_int {
    INTERNAL_ERROR
}
