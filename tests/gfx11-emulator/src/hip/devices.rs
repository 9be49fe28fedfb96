//! The one device and what it says of itself.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::queue::finish_device;
use super::{Error, INVALID_DEVICE, INVALID_VALUE, device, give, status};

const NAME: &[u8] = b"weft gfx11 emulator\0";
const ARCHITECTURE: &[u8] = b"gfx1151\0";
const VERSION: c_int = 70_200_000;
/// The structure of HIP 6 and 7, `R0600`.
const PROPERTIES_BYTES: usize = 1472;

fn known(ordinal: c_int) -> Result<(), Error> {
    if ordinal == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

fn total() -> usize {
    device().options().memory_bytes as usize
}

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(flags: c_uint) -> Error {
    status(if flags == 0 { Ok(()) } else { Err(INVALID_VALUE) })
}

/// # Safety
/// `version` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> Error {
    // SAFETY: the caller's promise.
    status(unsafe { give(version, VERSION) })
}

/// # Safety
/// `version` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> Error {
    // SAFETY: the caller's promise.
    status(unsafe { give(version, VERSION) })
}

/// # Safety
/// `count` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> Error {
    // SAFETY: the caller's promise.
    status(unsafe { give(count, 1) })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(ordinal: c_int) -> Error {
    status(known(ordinal))
}

/// # Safety
/// `ordinal` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(ordinal: *mut c_int) -> Error {
    // SAFETY: the caller's promise.
    status(unsafe { give(ordinal, 0) })
}

/// # Safety
/// `name` is null or has room for `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, bytes: c_int, ordinal: c_int) -> Error {
    status(known(ordinal).and_then(|()| {
        let room = usize::try_from(bytes).unwrap_or(0);
        if name.is_null() || room < NAME.len() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: there is room for the name.
        unsafe { std::ptr::copy_nonoverlapping(NAME.as_ptr(), name.cast(), NAME.len()) };
        Ok(())
    }))
}

/// # Safety
/// `bytes` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, ordinal: c_int) -> Error {
    // SAFETY: the caller's promise.
    status(known(ordinal).and_then(|()| unsafe { give(bytes, total()) }))
}

/// # Safety
/// Both are null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, all: *mut usize) -> Error {
    let used = device().read_map().used() as usize;
    // SAFETY: the caller's promise.
    status(unsafe { give(free, total().saturating_sub(used)).and_then(|()| give(all, total())) })
}

/// # Safety
/// `value` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetAttribute(value: *mut c_int, attribute: c_int, ordinal: c_int) -> Error {
    let found = match attribute {
        // Work-group processors, as the runtime counts.
        63 => Ok(20),
        // Lanes of a wave.
        87 => Ok(32),
        // LDS of a block; of a multiprocessor.
        74 | 10002 => Ok(64 << 10),
        // Threads of a block.
        56 => Ok(1024),
        // Clocks in kHz: the core's, the memory's, and the one that ticks at all times.
        5 => Ok(2_900_000),
        60 => Ok(1_000_000),
        10017 => Ok(100_000),
        // Width of the memory bus, and L2.
        59 => Ok(256),
        19 => Ok(2 << 20),
        // Integrated.
        16 => Ok(1),
        // Version of the architecture.
        23 => Ok(11),
        61 => Ok(5),
        // Managed and pageable memory: none of it.
        24 | 9 | 65 => Ok(0),
        _ => Err(INVALID_VALUE),
    };
    // SAFETY: the caller's promise.
    status(known(ordinal).and(found).and_then(|found| unsafe { give(value, found) }))
}

/// # Safety
/// `properties` is null or has room for the structure of HIP 6.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(properties: *mut c_void, ordinal: c_int) -> Error {
    if properties.is_null() {
        return status(Err(INVALID_VALUE));
    }
    let mut bytes = [0u8; PROPERTIES_BYTES];
    let total = total().to_le_bytes();
    let number = |value: i32| value.to_le_bytes();
    let (lanes, processors) = (number(32), number(20));
    let fields: [(usize, &[u8]); 5] =
        [(0, NAME), (288, &total), (308, &lanes), (388, &processors), (1160, ARCHITECTURE)];
    for (at, field) in fields {
        bytes[at..at + field.len()].copy_from_slice(field);
    }
    status(known(ordinal).map(|()| {
        // SAFETY: the caller's room is that of the structure.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), properties.cast(), bytes.len()) }
    }))
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> Error {
    status(finish_device())
}
