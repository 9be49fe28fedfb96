//! Code, its entry points, and launches.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::driver::{INVALID_VALUE, NO_BINARY_FOR_GPU, NOT_SUPPORTED, SUCCESS, driver, within};
use crate::{Handle, Status};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// What gfx1151 takes, so that a launch which it would refuse is refused here.
const MOST_THREADS: u64 = 1024;
const MOST_LDS: c_uint = 64 << 10;
/// What a launch here gets without asking, and the attribute to ask with.
const USUAL_LDS: c_uint = 48 << 10;
const MAX_DYNAMIC_SHARED_SIZE_BYTES: c_int = 8;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut Handle, image: *const c_void) -> Status {
    /// In the header of an ELF file, where the machine is named; AMD's GPUs.
    const MACHINE: (usize, u8) = (18, 0xe0);
    if image.is_null() {
        return INVALID_VALUE;
    }
    let byte = |at: usize| {
        // SAFETY: an image is longer than this header, which is read up to where it stops being one.
        unsafe { image.cast::<u8>().add(at).read() }
    };
    let is_elf = (0..).zip(*b"\x7fELF").all(|(at, expected)| byte(at) == expected);
    if is_elf && byte(MACHINE.0) == MACHINE.1 {
        return NO_BINARY_FOR_GPU;
    }
    within(|| driver!("cuModuleLoadData", (*mut Handle, *const c_void), module, image))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleUnload(module: Handle) -> Status {
    within(|| driver!("cuModuleUnload", (Handle), module))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut Handle,
    module: Handle,
    name: *const c_char,
) -> Status {
    within(|| driver!("cuModuleGetFunction", (*mut Handle, Handle, *const c_char), function, module, name))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetGlobal(
    at: *mut Handle,
    bytes: *mut usize,
    module: Handle,
    name: *const c_char,
) -> Status {
    within(|| {
        driver!(
            "cuModuleGetGlobal_v2",
            (*mut Handle, *mut usize, Handle, *const c_char),
            at,
            bytes,
            module,
            name
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    function: Handle,
) -> Status {
    within(|| driver!("cuFuncGetAttribute", (*mut c_int, c_int, Handle), value, attribute, function))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: Handle,
    threads: c_int,
    lds: usize,
) -> Status {
    within(|| {
        driver!(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            (*mut c_int, Handle, c_int, usize),
            blocks,
            function,
            threads,
            lds
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    function: Handle,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    lds: c_uint,
    stream: Handle,
    parameters: *mut Handle,
    extra: *mut Handle,
) -> Status {
    // The mark that ends `extra` is another number in CUDA.
    if !extra.is_null() {
        return NOT_SUPPORTED;
    }
    if u64::from(block_x) * u64::from(block_y) * u64::from(block_z) > MOST_THREADS || lds > MOST_LDS {
        return INVALID_VALUE;
    }
    within(|| {
        if lds > USUAL_LDS {
            let status = driver!(
                "cuFuncSetAttribute",
                (Handle, c_int, c_uint),
                function,
                MAX_DYNAMIC_SHARED_SIZE_BYTES,
                lds
            );
            if status != SUCCESS {
                return status;
            }
        }
        driver!(
            "cuLaunchKernel",
            (
                Handle,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                Handle,
                *mut Handle,
                *mut Handle
            ),
            function,
            grid_x,
            grid_y,
            grid_z,
            block_x,
            block_y,
            block_z,
            lds,
            stream,
            parameters,
            std::ptr::null_mut()
        )
    })
}
