//! Memory: of the device, page-locked, and copies between.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{LazyLock, Mutex};

use super::queue::{Bytes, Work, finish, finish_all};
use super::streams::put;
use super::{Error, Handle, INVALID_VALUE, OUT_OF_MEMORY, device, give, locked, status};

const PAGE: usize = 4096;
const NAN: u8 = 0xff;

/// What the host may copy from while the device works: start and length. `true`: allocated here.
static PAGE_LOCKED: LazyLock<Mutex<HashMap<usize, (usize, bool)>>> = LazyLock::new(Mutex::default);

fn is_page_locked(address: usize) -> bool {
    locked(&PAGE_LOCKED).iter().any(|(start, (bytes, _))| (*start..start + bytes).contains(&address))
}

fn is_device(address: u64, bytes: usize) -> bool {
    device().read_map().find(address, bytes as u64).is_some()
}

/// # Safety
/// `address` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(address: *mut Handle, bytes: usize) -> Error {
    if bytes == 0 {
        // SAFETY: the caller's promise.
        return status(unsafe { give(address, std::ptr::null_mut()) });
    }
    status(device().allocate(bytes as u64).map_err(|_| OUT_OF_MEMORY).and_then(|start| {
        // SAFETY: the caller's promise.
        unsafe { give(address, start as Handle) }
    }))
}

/// Waits for all work, as the runtime does.
#[unsafe(no_mangle)]
pub extern "C" fn hipFree(address: Handle) -> Error {
    if address.is_null() {
        return status(Ok(()));
    }
    finish_all();
    status(device().free(address as u64).map_err(|_| INVALID_VALUE))
}

fn host_layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), PAGE).ok()
}

/// # Safety
/// `address` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(address: *mut Handle, bytes: usize, _flags: c_uint) -> Error {
    let Some(layout) = host_layout(bytes) else { return status(Err(OUT_OF_MEMORY)) };
    // SAFETY: the layout is not empty.
    let start = unsafe { alloc(layout) };
    if start.is_null() {
        return status(Err(OUT_OF_MEMORY));
    }
    // SAFETY: just allocated, of this size.
    unsafe { std::ptr::write_bytes(start, NAN, bytes) };
    locked(&PAGE_LOCKED).insert(start as usize, (bytes, true));
    device().write_map().add_host(start as u64, bytes as u64);
    // SAFETY: the caller's promise.
    status(unsafe { give(address, start.cast::<c_void>()) })
}

/// # Safety
/// Nothing uses the memory any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostFree(address: Handle) -> Error {
    if address.is_null() {
        return status(Ok(()));
    }
    finish_all();
    let start = address as usize;
    let removed = {
        let mut all = locked(&PAGE_LOCKED);
        let is_made = all.get(&start).is_some_and(|(_, made)| *made);
        if is_made { all.remove(&start) } else { None }
    };
    let layout = removed.and_then(|(bytes, _)| host_layout(bytes));
    status(layout.ok_or(INVALID_VALUE).map(|layout| {
        device().write_map().remove_host(start as u64);
        // SAFETY: allocated by hipHostMalloc with this layout, and removed from the list just now.
        unsafe { dealloc(address.cast(), layout) }
    }))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostRegister(address: Handle, bytes: usize, _flags: c_uint) -> Error {
    if address.is_null() || bytes == 0 {
        return status(Err(INVALID_VALUE));
    }
    locked(&PAGE_LOCKED).insert(address as usize, (bytes, false));
    device().write_map().add_host(address as u64, bytes as u64);
    status(Ok(()))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostUnregister(address: Handle) -> Error {
    let mut locked = locked(&PAGE_LOCKED);
    let known = locked.get(&(address as usize)).is_some_and(|(_, made)| !made);
    if known {
        locked.remove(&(address as usize));
        device().write_map().remove_host(address as u64);
    }
    status(if known { Ok(()) } else { Err(INVALID_VALUE) })
}

// ---- copies

/// # Safety
/// `from` is valid for reads of `bytes`, until the copy ran when it is page-locked.
unsafe fn to_device(to: u64, from: *const c_void, bytes: usize, stream: Handle) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    if !is_device(to, bytes) || from.is_null() || is_device(from as u64, bytes) {
        return Err(INVALID_VALUE);
    }
    // The runtime takes ordinary memory along before the call returns; page-locked memory it reads later.
    let from = if is_page_locked(from as usize) {
        Bytes::There(from as usize, bytes)
    } else {
        // SAFETY: the caller's promise.
        Bytes::Taken(unsafe { std::slice::from_raw_parts(from.cast::<u8>(), bytes) }.to_vec())
    };
    put(stream, Work::ToDevice { to, from })
}

/// # Safety
/// `to` is valid for writes of `bytes`, until the copy ran when it is page-locked.
unsafe fn to_host(to: *mut c_void, from: u64, bytes: usize, stream: Handle) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    if !is_device(from, bytes) || to.is_null() || is_device(to as u64, bytes) {
        return Err(INVALID_VALUE);
    }
    put(stream, Work::ToHost { to: to as usize, from, bytes })?;
    // The runtime waits for a copy to ordinary memory.
    if is_page_locked(to as usize) { Ok(()) } else { finish(stream) }
}

fn on_device(to: u64, from: u64, bytes: usize, stream: Handle) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    if !is_device(from, bytes) || !is_device(to, bytes) {
        return Err(INVALID_VALUE);
    }
    put(stream, Work::OnDevice { to, from, bytes: bytes as u64 })
}

/// # Safety
/// The end that is host memory is valid for `bytes`, until the copy ran when it is page-locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAsync(
    to: Handle,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: Handle,
) -> Error {
    let kind = match (kind, is_device(to as u64, bytes), is_device(from as u64, bytes)) {
        (4, true, false) => 1,
        (4, false, true) => 2,
        (4, true, true) => 3,
        (4, false, false) => 0,
        (kind, ..) => kind,
    };
    // SAFETY: the caller's promise.
    status(unsafe {
        match kind {
            1 => to_device(to as u64, from, bytes, stream),
            2 => to_host(to, from as u64, bytes, stream),
            3 => on_device(to as u64, from as u64, bytes, stream),
            _ => Err(INVALID_VALUE),
        }
    })
}

/// # Safety
/// `from` is valid for reads of `bytes`, until the copy ran when it is page-locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoDAsync(
    to: Handle,
    from: *const c_void,
    bytes: usize,
    stream: Handle,
) -> Error {
    // SAFETY: the caller's promise.
    status(unsafe { to_device(to as u64, from, bytes, stream) })
}

/// # Safety
/// `to` is valid for writes of `bytes`, until the copy ran when it is page-locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoHAsync(
    to: *mut c_void,
    from: Handle,
    bytes: usize,
    stream: Handle,
) -> Error {
    // SAFETY: the caller's promise.
    status(unsafe { to_host(to, from as u64, bytes, stream) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemcpyDtoDAsync(to: Handle, from: Handle, bytes: usize, stream: Handle) -> Error {
    status(on_device(to as u64, from as u64, bytes, stream))
}

fn fill(to: Handle, pattern: Vec<u8>, bytes: usize, stream: Handle) -> Result<(), Error> {
    if bytes == 0 {
        return Ok(());
    }
    if !is_device(to as u64, bytes) {
        return Err(INVALID_VALUE);
    }
    put(stream, Work::Fill { to: to as u64, pattern, bytes })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetAsync(to: Handle, value: c_int, bytes: usize, stream: Handle) -> Error {
    status(fill(to, vec![value as u8], bytes, stream))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipMemsetD32Async(to: Handle, value: c_int, count: usize, stream: Handle) -> Error {
    let bytes = count.checked_mul(4).ok_or(INVALID_VALUE);
    status(bytes.and_then(|bytes| fill(to, value.to_le_bytes().to_vec(), bytes, stream)))
}
