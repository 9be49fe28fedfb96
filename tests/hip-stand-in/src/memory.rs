//! Memory of the device and of the host, and copies.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::status::{INVALID_VALUE, OUT_OF_MEMORY, SUCCESS, Status};
use crate::stream::{Work, finish_all, submit};
use crate::{Handle, complain, lock};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::Mutex;

pub(crate) const TOTAL_BYTES: usize = 8 << 30;
/// As hipMalloc's at least.
const ALIGNMENT: usize = 256;

/// Blocks by their start.
#[derive(Default)]
struct Blocks {
    device: BTreeMap<usize, usize>,
    pinned: BTreeMap<usize, usize>,
    used: usize,
}

static BLOCKS: Mutex<Blocks> =
    Mutex::new(Blocks { device: BTreeMap::new(), pinned: BTreeMap::new(), used: 0 });

fn holds(blocks: &BTreeMap<usize, usize>, start: usize, bytes: usize) -> bool {
    let before = blocks.range(..=start).next_back();
    before.is_some_and(|(at, size)| start.checked_add(bytes).is_some_and(|end| end <= at + size))
}

/// Whether these bytes lie in one block of device memory.
pub fn is_device(start: usize, bytes: usize) -> bool {
    holds(&lock(&BLOCKS).device, start, bytes)
}

/// Start and size of every block of device memory, in order.
pub fn device_blocks() -> Vec<(usize, usize)> {
    lock(&BLOCKS).device.iter().map(|(start, bytes)| (*start, *bytes)).collect()
}

pub(crate) fn is_pinned(start: usize, bytes: usize) -> bool {
    holds(&lock(&BLOCKS).pinned, start, bytes)
}

pub(crate) fn used() -> usize {
    lock(&BLOCKS).used
}

/// A block of its own with exactly this size, so that a sanitizer sees what lies behind it. Full of NaN.
fn allocate(bytes: usize) -> Option<*mut c_void> {
    let mut at = std::ptr::null_mut();
    // SAFETY: the alignment is a power of two; the block is as large as what is filled.
    unsafe {
        if libc::posix_memalign(&raw mut at, ALIGNMENT, bytes.max(1)) != 0 {
            return None;
        }
        at.cast::<u8>().write_bytes(0xff, bytes);
    }
    Some(at)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(pointer: *mut Handle, bytes: usize) -> Status {
    if pointer.is_null() {
        return INVALID_VALUE;
    }
    let mut at = std::ptr::null_mut();
    if bytes > 0 {
        let mut blocks = lock(&BLOCKS);
        if bytes > TOTAL_BYTES - blocks.used {
            return OUT_OF_MEMORY;
        }
        let Some(block) = allocate(bytes) else { return OUT_OF_MEMORY };
        at = block;
        blocks.used += bytes;
        blocks.device.insert(at as usize, bytes);
    }
    // SAFETY: the host's pointer, which is not null.
    unsafe { pointer.write(at) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFree(pointer: Handle) -> Status {
    if pointer.is_null() {
        return SUCCESS;
    }
    // As the runtime does: work in flight may use it.
    let ended = finish_all();
    let mut blocks = lock(&BLOCKS);
    let Some(bytes) = blocks.device.remove(&(pointer as usize)) else { return INVALID_VALUE };
    blocks.used -= bytes;
    // SAFETY: the block came from `allocate` and was known until now.
    unsafe { libc::free(pointer) };
    ended
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(pointer: *mut Handle, bytes: usize, _flags: c_uint) -> Status {
    if pointer.is_null() {
        return INVALID_VALUE;
    }
    let Some(at) = allocate(bytes) else { return OUT_OF_MEMORY };
    lock(&BLOCKS).pinned.insert(at as usize, bytes);
    // SAFETY: the host's pointer, which is not null.
    unsafe { pointer.write(at) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostFree(pointer: Handle) -> Status {
    if pointer.is_null() {
        return SUCCESS;
    }
    let ended = finish_all();
    if lock(&BLOCKS).pinned.remove(&(pointer as usize)).is_none() {
        return INVALID_VALUE;
    }
    // SAFETY: the block came from `allocate` and was known until now.
    unsafe { libc::free(pointer) };
    ended
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostRegister(pointer: Handle, bytes: usize, _flags: c_uint) -> Status {
    lock(&BLOCKS).pinned.insert(pointer as usize, bytes);
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipHostUnregister(pointer: Handle) -> Status {
    match lock(&BLOCKS).pinned.remove(&(pointer as usize)) {
        Some(_) => SUCCESS,
        None => INVALID_VALUE,
    }
}

/// Submits a copy whose ends on the device must be device memory.
fn copy(to: usize, from: usize, bytes: usize, device_ends: &[usize], stream: Handle) -> Status {
    if bytes == 0 {
        return SUCCESS;
    }
    if let Some(end) = device_ends.iter().find(|end| !is_device(**end, bytes)) {
        complain(&format!("a copy of {bytes} bytes at {end:#x}, where no device memory of this size is"));
        return INVALID_VALUE;
    }
    submit(stream, Work::Copy { to, from, bytes })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAsync(
    to: Handle,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    stream: Handle,
) -> Status {
    let (to, from) = (to as usize, from as usize);
    let ends: &[usize] = match kind {
        1 => &[to],
        2 => &[from],
        3 => &[to, from],
        _ => &[],
    };
    copy(to, from, bytes, ends, stream)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoDAsync(
    to: Handle,
    from: *const c_void,
    bytes: usize,
    stream: Handle,
) -> Status {
    copy(to as usize, from as usize, bytes, &[to as usize], stream)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoHAsync(
    to: Handle,
    from: Handle,
    bytes: usize,
    stream: Handle,
) -> Status {
    copy(to as usize, from as usize, bytes, &[from as usize], stream)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoDAsync(
    to: Handle,
    from: Handle,
    bytes: usize,
    stream: Handle,
) -> Status {
    copy(to as usize, from as usize, bytes, &[to as usize, from as usize], stream)
}

fn fill(to: usize, pattern: [u8; 4], bytes: usize, stream: Handle) -> Status {
    if bytes == 0 {
        return SUCCESS;
    }
    if !is_device(to, bytes) {
        complain(&format!("a fill of {bytes} bytes at {to:#x}, where no device memory of this size is"));
        return INVALID_VALUE;
    }
    submit(stream, Work::Fill { to, pattern, bytes })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetAsync(to: Handle, value: c_int, bytes: usize, stream: Handle) -> Status {
    let [byte, ..] = value.to_le_bytes();
    fill(to as usize, [byte; 4], bytes, stream)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD32Async(to: Handle, value: c_int, count: usize, stream: Handle) -> Status {
    fill(to as usize, value.to_le_bytes(), count.saturating_mul(4), stream)
}
