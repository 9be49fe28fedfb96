//! Code, its entry points, and launches.
#![allow(clippy::missing_safety_doc, reason = "HIP's documentation says what its functions want")]

use crate::status::{
    INVALID_HANDLE, INVALID_IMAGE, INVALID_VALUE, NO_BINARY_FOR_GPU, NOT_FOUND, NOT_SUPPORTED, SUCCESS,
    Status,
};
use crate::stream::{Work, finish_all, submit};
use crate::{Handle, Kernel, Launch, Module, Refusal, boxed, complain, give, hip_machine, lock, unboxed};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Arc, Mutex};

/// `hipModule_t`. Functions live as long as their module.
struct Loaded {
    module: Box<dyn Module>,
    #[expect(clippy::vec_box, reason = "handles are the addresses of what is in the boxes")]
    functions: Mutex<Vec<Box<Arc<dyn Kernel>>>>,
}

/// The bytes of an ELF image: its table of sections ends it.
unsafe fn image_bytes<'a>(image: *const u8) -> Option<&'a [u8]> {
    const HEADER: usize = 64;
    if image.is_null() {
        return None;
    }
    // SAFETY: an image is at least a header long; the first four bytes are looked at first.
    let header = unsafe {
        if std::slice::from_raw_parts(image, 4) != b"\x7fELF" {
            return None;
        }
        std::slice::from_raw_parts(image, HEADER)
    };
    let number = |at: usize| usize::from(u16::from_le_bytes([header[at], header[at + 1]]));
    let sections = usize::from_le_bytes(header.get(40..48)?.try_into().ok()?);
    // SAFETY: the header says that so many bytes follow.
    Some(unsafe { std::slice::from_raw_parts(image, sections.checked_add(number(58) * number(60))?) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut Handle, image: *const c_void) -> Status {
    // SAFETY: the host's image.
    let Some(bytes) = (unsafe { image_bytes(image.cast()) }) else { return INVALID_IMAGE };
    match hip_machine().load(bytes) {
        // SAFETY: the host's pointer.
        Ok(loaded) => unsafe { give(module, boxed(Loaded { module: loaded, functions: Mutex::default() })) },
        Err(Refusal::OtherChip) => NO_BINARY_FOR_GPU,
        Err(Refusal::Broken(why)) => {
            complain(&why);
            INVALID_IMAGE
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleUnload(module: Handle) -> Status {
    finish_all();
    // SAFETY: the host unloads a module once.
    unsafe { unboxed::<Loaded>(module) }.map_or(INVALID_HANDLE, |_| SUCCESS)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut Handle,
    module: Handle,
    name: *const c_char,
) -> Status {
    // SAFETY: the host's handle came from `hipModuleLoadData`.
    let Some(loaded) = (unsafe { module.cast::<Loaded>().as_ref() }) else { return INVALID_HANDLE };
    // SAFETY: the host's text ends in zero.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let Some(kernel) = loaded.module.kernel(&name) else { return NOT_FOUND };
    let kernel = Box::new(kernel);
    let handle: *const Arc<dyn Kernel> = &raw const *kernel;
    lock(&loaded.functions).push(kernel);
    // SAFETY: the host's pointer.
    unsafe { give(function, handle.cast_mut().cast()) }
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleGetGlobal(
    _at: *mut Handle,
    _bytes: *mut usize,
    _module: Handle,
    _name: *const c_char,
) -> Status {
    NOT_FOUND
}

#[unsafe(no_mangle)]
pub extern "C" fn hipFuncGetAttribute(_value: *mut c_int, _attribute: c_int, _function: Handle) -> Status {
    NOT_SUPPORTED
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    _blocks: *mut c_int,
    _function: Handle,
    _threads: c_int,
    _lds: usize,
) -> Status {
    NOT_SUPPORTED
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
    dynamic_lds: c_uint,
    stream: Handle,
    parameters: *mut Handle,
    extra: *mut Handle,
) -> Status {
    if !extra.is_null() || block_y != 1 || block_z != 1 {
        return NOT_SUPPORTED;
    }
    // SAFETY: the host's handle came from `hipModuleGetFunction`.
    let Some(kernel) = (unsafe { function.cast::<Arc<dyn Kernel>>().as_ref() }) else {
        return INVALID_HANDLE;
    };
    let launch = Launch { grid: [grid_x, grid_y, grid_z], threads: block_x, dynamic_lds };
    // A chip refuses threads and y and z beyond these numbers.
    let is_empty = launch.grid.contains(&0) || block_x == 0;
    if is_empty || block_x > 1024 || grid_y > 65_535 || grid_z > 65_535 {
        complain(&format!("a launch of {:?} blocks of {block_x} threads", launch.grid));
        return INVALID_VALUE;
    }
    let mut arguments = vec![0; kernel.argument_bytes()];
    for (k, place) in kernel.arguments().iter().enumerate() {
        let Some(slot) = arguments.get_mut(place.clone()) else { return INVALID_VALUE };
        // SAFETY: the host gives a pointer to each argument, which has its size.
        unsafe {
            let from: *const u8 = (*parameters.add(k)).cast();
            std::ptr::copy_nonoverlapping(from, slot.as_mut_ptr(), slot.len());
        }
    }
    submit(stream, Work::Launch { kernel: Arc::clone(kernel), launch, arguments })
}
