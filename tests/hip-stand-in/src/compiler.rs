//! The run-time compiler.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::status::{INVALID_VALUE, SUCCESS, Status};
use crate::{Handle, boxed, give, hip_machine, unboxed};
use std::ffi::{CStr, c_char, c_int};

/// `HIPRTC_ERROR_INVALID_PROGRAM`.
const INVALID_PROGRAM: Status = 4;
/// `HIPRTC_ERROR_COMPILATION`.
const COMPILATION: Status = 6;

/// `hiprtcProgram`.
#[derive(Default)]
struct Program {
    name: String,
    text: String,
    code: Vec<u8>,
    /// Ends in zero.
    log: Vec<u8>,
}

unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the host's text ends in zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

unsafe fn program_of<'a>(program: Handle) -> Option<&'a mut Program> {
    // SAFETY: the host's handle came from `hiprtcCreateProgram`, and one thread uses a program at a time.
    unsafe { program.cast::<Program>().as_mut() }
}

unsafe fn copy_out(bytes: &[u8], to: *mut c_char) -> Status {
    if to.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the host's buffer has the size that it asked for before.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcVersion(major: *mut c_int, minor: *mut c_int) -> Status {
    // SAFETY: the host's pointers.
    unsafe { give(major, 7) | give(minor, hip_machine().compiler_version()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCreateProgram(
    program: *mut Handle,
    source: *const c_char,
    name: *const c_char,
    headers: c_int,
    _header_texts: *const *const c_char,
    _header_names: *const *const c_char,
) -> Status {
    if headers != 0 {
        return INVALID_VALUE;
    }
    // SAFETY: the host's texts and pointer.
    unsafe {
        let made = Program { name: text_of(name), text: text_of(source), ..Program::default() };
        give(program, boxed(made))
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcCompileProgram(
    program: Handle,
    count: c_int,
    options: *const *const c_char,
) -> Status {
    // SAFETY: the host's handle.
    let Some(program) = (unsafe { program_of(program) }) else { return INVALID_PROGRAM };
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the host gives as many texts as it says.
    let options: Vec<String> = (0..count).map(|k| unsafe { text_of(*options.add(k)) }).collect();
    match hip_machine().compile(&program.name, &program.text, &options) {
        Ok(code) => {
            (program.code, program.log) = (code, vec![0]);
            SUCCESS
        }
        Err(log) => {
            program.log = log.into_bytes();
            program.log.push(0);
            COMPILATION
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLogSize(program: Handle, bytes: *mut usize) -> Status {
    // SAFETY: the host's handle and pointer.
    unsafe { program_of(program).map_or(INVALID_PROGRAM, |program| give(bytes, program.log.len())) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetProgramLog(program: Handle, log: *mut c_char) -> Status {
    // SAFETY: the host's handle and buffer.
    unsafe { program_of(program).map_or(INVALID_PROGRAM, |program| copy_out(&program.log, log)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCodeSize(program: Handle, bytes: *mut usize) -> Status {
    // SAFETY: the host's handle and pointer.
    unsafe { program_of(program).map_or(INVALID_PROGRAM, |program| give(bytes, program.code.len())) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcGetCode(program: Handle, code: *mut c_char) -> Status {
    // SAFETY: the host's handle and buffer.
    unsafe { program_of(program).map_or(INVALID_PROGRAM, |program| copy_out(&program.code, code)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hiprtcDestroyProgram(program: *mut Handle) -> Status {
    // SAFETY: the host's pointer to its handle, which it destroys once.
    unsafe { program.as_mut().and_then(|handle| unboxed::<Program>(*handle)) }
        .map_or(INVALID_PROGRAM, |_| SUCCESS)
}
