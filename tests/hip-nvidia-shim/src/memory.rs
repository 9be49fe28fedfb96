//! Memory and copies. Addresses on the device are pointers in HIP and numbers of 64 bits in CUDA: the same in a register.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::driver::{SUCCESS, driver, within};
use crate::{Handle, Status};
use std::ffi::{c_int, c_uint, c_void};

/// Flags of pinned memory that mean the same to both.
const PINNED: c_uint = 7;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(pointer: *mut Handle, bytes: usize) -> Status {
    if bytes == 0 {
        // SAFETY: the host's pointer.
        unsafe { pointer.write(std::ptr::null_mut()) };
        return SUCCESS;
    }
    within(|| driver!("cuMemAlloc_v2", (*mut Handle, usize), pointer, bytes))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFree(pointer: Handle) -> Status {
    if pointer.is_null() {
        return SUCCESS;
    }
    within(|| driver!("cuMemFree_v2", (Handle), pointer))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(pointer: *mut Handle, bytes: usize, flags: c_uint) -> Status {
    within(|| driver!("cuMemHostAlloc", (*mut Handle, usize, c_uint), pointer, bytes.max(1), flags & PINNED))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostFree(pointer: Handle) -> Status {
    if pointer.is_null() {
        return SUCCESS;
    }
    within(|| driver!("cuMemFreeHost", (Handle), pointer))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostRegister(pointer: Handle, bytes: usize, flags: c_uint) -> Status {
    within(|| driver!("cuMemHostRegister_v2", (Handle, usize, c_uint), pointer, bytes, flags & PINNED))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostUnregister(pointer: Handle) -> Status {
    within(|| driver!("cuMemHostUnregister", (Handle), pointer))
}

/// The driver knows by the addresses which way it goes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAsync(
    to: Handle,
    from: *const c_void,
    bytes: usize,
    _kind: c_int,
    stream: Handle,
) -> Status {
    within(|| driver!("cuMemcpyAsync", (Handle, *const c_void, usize, Handle), to, from, bytes, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoDAsync(
    to: Handle,
    from: *const c_void,
    bytes: usize,
    stream: Handle,
) -> Status {
    within(|| {
        driver!("cuMemcpyHtoDAsync_v2", (Handle, *const c_void, usize, Handle), to, from, bytes, stream)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoHAsync(
    to: Handle,
    from: Handle,
    bytes: usize,
    stream: Handle,
) -> Status {
    within(|| driver!("cuMemcpyDtoHAsync_v2", (Handle, Handle, usize, Handle), to, from, bytes, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoDAsync(
    to: Handle,
    from: Handle,
    bytes: usize,
    stream: Handle,
) -> Status {
    within(|| driver!("cuMemcpyDtoDAsync_v2", (Handle, Handle, usize, Handle), to, from, bytes, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetAsync(to: Handle, value: c_int, bytes: usize, stream: Handle) -> Status {
    let [byte, ..] = value.to_le_bytes();
    within(|| driver!("cuMemsetD8Async", (Handle, u8, usize, Handle), to, byte, bytes, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD32Async(to: Handle, value: c_int, count: usize, stream: Handle) -> Status {
    within(|| driver!("cuMemsetD32Async", (Handle, c_int, usize, Handle), to, value, count, stream))
}
