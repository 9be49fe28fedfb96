//! The one device.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::memory::{TOTAL_BYTES, used};
use crate::status::{INVALID_DEVICE, INVALID_VALUE, SUCCESS, Status};
use crate::{give, hip_machine};
use std::ffi::{c_char, c_int, c_uint};

const WORKGROUP_PROCESSORS: c_int = 20;
const WAVE: c_int = 32;
/// Of the structure in HIP 6 and 7.
const PROPERTIES_BYTES: usize = 1472;

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(_flags: c_uint) -> Status {
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> Status {
    // SAFETY: the host's pointer.
    unsafe { give(version, 70_200_000) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> Status {
    // SAFETY: the host's pointer.
    unsafe { give(version, 70_200_000) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> Status {
    // SAFETY: the host's pointer.
    unsafe { give(count, 1) }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device: c_int) -> Status {
    if device == 0 { SUCCESS } else { INVALID_DEVICE }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(device: *mut c_int) -> Status {
    // SAFETY: the host's pointer.
    unsafe { give(device, 0) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, bytes: c_int, _device: c_int) -> Status {
    let text = hip_machine().name().to_bytes_with_nul();
    if name.is_null() || usize::try_from(bytes).is_ok_and(|bytes| bytes < text.len()) {
        return INVALID_VALUE;
    }
    // SAFETY: the host's buffer holds `bytes`, which is enough.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), name.cast(), text.len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, _device: c_int) -> Status {
    // SAFETY: the host's pointer.
    unsafe { give(bytes, TOTAL_BYTES) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> Status {
    // SAFETY: the host's pointers.
    unsafe { give(free, TOTAL_BYTES - used()) | give(total, TOTAL_BYTES) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    _device: c_int,
) -> Status {
    let known = match attribute {
        63 => WORKGROUP_PROCESSORS,
        87 => WAVE,
        74 => 65536,      // workgroup memory of a block
        10002 => 131_072, // and of a processor
        56 => 1024,       // threads of a block
        16 => 1,          // shares the host's memory
        19 => 2 << 20,    // L2
        5 => 2_900_000,   // clock, kHz
        60 => 4_000_000,  // of the memory
        59 => 256,        // bits of the memory's bus
        23 => 11,         // version of the instruction set, major
        61 => 5,          // and minor
        _ => return INVALID_VALUE,
    };
    // SAFETY: the host's pointer.
    unsafe { give(value, known) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(properties: *mut u8, _device: c_int) -> Status {
    if properties.is_null() {
        return INVALID_VALUE;
    }
    let machine = hip_machine();
    let fields: [(usize, &[u8]); 5] = [
        (0, machine.name().to_bytes_with_nul()),
        (288, &TOTAL_BYTES.to_le_bytes()),
        (308, &WAVE.to_le_bytes()),
        (388, &WORKGROUP_PROCESSORS.to_le_bytes()),
        (1160, machine.architecture().to_bytes_with_nul()),
    ];
    // SAFETY: the host's structure has this size.
    let all = unsafe {
        properties.write_bytes(0, PROPERTIES_BYTES);
        std::slice::from_raw_parts_mut(properties, PROPERTIES_BYTES)
    };
    for (offset, bytes) in fields {
        all[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    SUCCESS
}
