//! Devices and errors.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::Status;
use crate::driver::{
    INVALID_DEVICE, INVALID_VALUE, NO_DEVICE, SUCCESS, choose_device, driver, initialise, present_device,
    within,
};
use std::ffi::{c_char, c_int, c_uint};

const VERSION: c_int = 70_200_000;
/// Of the structure in HIP 6 and 7.
const PROPERTIES_BYTES: usize = 1472;

#[unsafe(no_mangle)]
pub extern "C" fn hipInit(_flags: c_uint) -> Status {
    initialise()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> Status {
    // SAFETY: the host's pointer.
    unsafe { version.write(VERSION) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> Status {
    // SAFETY: the host's pointer.
    unsafe { version.write(VERSION) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> Status {
    /// What the driver says where its kernel part is missing.
    const UNKNOWN: Status = 999;
    // SAFETY: the host's pointer.
    unsafe { count.write(0) };
    match initialise() {
        SUCCESS => {}
        UNKNOWN => return NO_DEVICE,
        status => return status,
    }
    let status = driver!("cuDeviceGetCount", (*mut c_int), count);
    // SAFETY: the host's pointer.
    if status == SUCCESS && unsafe { count.read() } == 0 { NO_DEVICE } else { status }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device: c_int) -> Status {
    let mut count = 0;
    // SAFETY: the pointer is valid for the call.
    match unsafe { hipGetDeviceCount(&raw mut count) } {
        SUCCESS if !(0..count).contains(&device) => INVALID_DEVICE,
        SUCCESS => {
            choose_device(device);
            within(|| SUCCESS)
        }
        status => status,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(device: *mut c_int) -> Status {
    // SAFETY: the host's pointer.
    unsafe { device.write(present_device()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, bytes: c_int, device: c_int) -> Status {
    within(|| driver!("cuDeviceGetName", (*mut c_char, c_int, c_int), name, bytes, device))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, device: c_int) -> Status {
    within(|| driver!("cuDeviceTotalMem_v2", (*mut usize, c_int), bytes, device))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> Status {
    within(|| driver!("cuMemGetInfo_v2", (*mut usize, *mut usize), free, total))
}

/// HIP's number of an attribute, CUDA's.
const ATTRIBUTES: &[(c_int, c_int)] = &[
    (63, 16),    // multiprocessors
    (87, 10),    // threads of a wave
    (74, 8),     // workgroup memory of a block
    (56, 1),     // threads of a block
    (57, 39),    // threads of a multiprocessor
    (5, 13),     // clock
    (60, 36),    // of the memory
    (59, 37),    // bits of the memory's bus
    (19, 38),    // L2
    (16, 18),    // shares the host's memory
    (23, 75),    // compute capability, major
    (61, 76),    // and minor
    (24, 83),    // managed memory
    (9, 89),     // at once with the host
    (65, 88),    // pageable memory
    (10002, 81), // workgroup memory of a multiprocessor
];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: c_int) -> Status {
    let Some((_, theirs)) = ATTRIBUTES.iter().find(|(ours, _)| *ours == attribute) else {
        return INVALID_VALUE;
    };
    within(|| driver!("cuDeviceGetAttribute", (*mut c_int, c_int, c_int), value, *theirs, device))
}

/// The structure of HIP 6 and 7, with the fields that an engine reads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(properties: *mut u8, device: c_int) -> Status {
    let (mut memory, mut numbers) = (0usize, [0 as c_int; 4]);
    // SAFETY: the host's structure has this size, and the name takes its first 256 bytes.
    let all = unsafe {
        properties.write_bytes(0, PROPERTIES_BYTES);
        let status = hipDeviceGetName(properties.cast(), 256, device);
        if status != SUCCESS {
            return status;
        }
        std::slice::from_raw_parts_mut(properties, PROPERTIES_BYTES)
    };
    // SAFETY: the pointers are valid for the calls.
    unsafe {
        hipDeviceTotalMem(&raw mut memory, device);
        for (number, attribute) in numbers.iter_mut().zip([87, 63, 23, 61]) {
            hipDeviceGetAttribute(number, attribute, device);
        }
    }
    let [wave, processors, major, minor] = numbers;
    let architecture = format!("sm_{major}{minor}");
    let fields: [(usize, &[u8]); 4] = [
        (288, &memory.to_le_bytes()),
        (308, &wave.to_le_bytes()),
        (388, &processors.to_le_bytes()),
        (1160, architecture.as_bytes()),
    ];
    for (offset, bytes) in fields {
        all[offset..offset + bytes.len()].copy_from_slice(bytes);
    }
    SUCCESS
}

fn text(name: &'static str, status: Status) -> *const c_char {
    let mut text = c"unknown error".as_ptr();
    if status == NO_DEVICE {
        // The driver, which would know the words, is what may be missing.
        return if name == "name" { c"hipErrorNoDevice".as_ptr() } else { c"no NVIDIA driver".as_ptr() };
    }
    let found = match name {
        "name" => driver!("cuGetErrorName", (Status, *mut *const c_char), status, &raw mut text),
        _ => driver!("cuGetErrorString", (Status, *mut *const c_char), status, &raw mut text),
    };
    if found == SUCCESS && !text.is_null() { text } else { c"unknown error".as_ptr() }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(status: Status) -> *const c_char {
    text("name", status)
}

#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(status: Status) -> *const c_char {
    text("meaning", status)
}

/// Every call tells its own error; none is kept.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> Status {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> Status {
    within(|| driver!("cuCtxSynchronize", (),))
}
