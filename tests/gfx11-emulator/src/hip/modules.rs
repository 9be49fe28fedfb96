//! Code objects, their kernels, and launches.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Arc, LazyLock};

use super::queue::{Work, finish_all};
use super::streams::put;
use super::{
    Error, Handle, Handles, INVALID_IMAGE, INVALID_VALUE, NO_BINARY_FOR_GPU, NOT_FOUND, NOT_SUPPORTED,
    device, give, status,
};
use crate::device::Module;
use crate::fault::{KernelError, LoadError};
use crate::launch::Launch;
use crate::object_file::Kernel;

pub(super) struct Function {
    pub(super) module: Arc<Module>,
    pub(super) kernel: Arc<Kernel>,
}

static MODULES: LazyLock<Handles<Module>> = LazyLock::new(Handles::new);
static FUNCTIONS: LazyLock<Handles<Function>> = LazyLock::new(Handles::new);

/// The bytes of an ELF image: its section headers come last, so they end it.
///
/// # Safety
/// `image` points to a whole ELF file, or to 64 bytes of something else.
unsafe fn image_bytes<'a>(image: *const u8) -> Option<&'a [u8]> {
    // SAFETY: the caller's promise.
    let header = unsafe { std::slice::from_raw_parts(image, 64) };
    if !header.starts_with(b"\x7fELF") {
        return None;
    }
    let number = |at: usize, bytes: usize| {
        header[at..at + bytes].iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte))
    };
    let bytes = number(40, 8).checked_add(number(58, 2) * number(60, 2))?;
    // SAFETY: a whole file reaches to the end of its section headers.
    Some(unsafe { std::slice::from_raw_parts(image, bytes) })
}

/// # Safety
/// `module` is null or valid; `image` points to a whole code object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(module: *mut Handle, image: *const c_void) -> Error {
    if image.is_null() {
        return status(Err(INVALID_VALUE));
    }
    // SAFETY: the caller's promise.
    let Some(bytes) = (unsafe { image_bytes(image.cast()) }) else { return status(Err(INVALID_IMAGE)) };
    status(match device().load(bytes) {
        // SAFETY: the caller's promise.
        Ok(loaded) => unsafe { give(module, MODULES.add(loaded)) },
        Err(error) => {
            eprintln!("gfx11 emulator: {error}");
            Err(if matches!(error, LoadError::OtherChip { .. }) { NO_BINARY_FOR_GPU } else { INVALID_IMAGE })
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn hipModuleUnload(module: Handle) -> Error {
    status(MODULES.remove(module).map(|module| {
        finish_all();
        device().unload(&module);
    }))
}

/// A kernel with an instruction that the emulator does not know gives `hipErrorNotSupported`.
///
/// # Safety
/// `function` is null or valid, `name` a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut Handle,
    module: Handle,
    name: *const c_char,
) -> Error {
    if name.is_null() {
        return status(Err(INVALID_VALUE));
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    status(MODULES.get(module).and_then(|module| match module.kernel(&name) {
        Ok(kernel) => {
            let made = Function { module: Arc::clone(&module), kernel };
            // SAFETY: the caller's promise.
            unsafe { give(function, FUNCTIONS.add(made)) }
        }
        Err(KernelError::Absent { .. }) => Err(NOT_FOUND),
        Err(error) => {
            eprintln!("gfx11 emulator: {error}");
            Err(NOT_SUPPORTED)
        }
    }))
}

/// # Safety
/// `address` and `bytes` are null or valid, `name` a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetGlobal(
    address: *mut Handle,
    bytes: *mut usize,
    module: Handle,
    name: *const c_char,
) -> Error {
    if name.is_null() {
        return status(Err(INVALID_VALUE));
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    status(MODULES.get(module).and_then(|module| {
        let found = module.global(&name).ok_or(NOT_FOUND)?;
        // SAFETY: the caller's promise; either may be left out.
        unsafe {
            if !address.is_null() {
                address.write(found.address as Handle);
            }
            if !bytes.is_null() {
                bytes.write(found.bytes as usize);
            }
        }
        Ok(())
    }))
}

/// # Safety
/// `value` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncGetAttribute(value: *mut c_int, attribute: c_int, function: Handle) -> Error {
    status(FUNCTIONS.get(function).and_then(|function| {
        let about = &function.kernel.about;
        let found = match attribute {
            0 => about.max_threads,
            1 => about.lds_bytes,
            2 => 0,
            3 => about.scratch_bytes,
            4 => about.vectors,
            8 => (64 << 10) - about.lds_bytes,
            _ => return Err(INVALID_VALUE),
        };
        // SAFETY: the caller's promise.
        unsafe { give(value, found as c_int) }
    }))
}

/// By vector registers (1536 a SIMD in steps of 24, at most 16 waves) and LDS (128 KiB a work-group processor).
///
/// # Safety
/// `blocks` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: Handle,
    threads: c_int,
    dynamic_lds: usize,
) -> Error {
    status(FUNCTIONS.get(function).and_then(|function| {
        let about = &function.kernel.about;
        let threads = usize::try_from(threads).ok().filter(|threads| *threads > 0).ok_or(INVALID_VALUE)?;
        let waves_a_simd = (1536 / about.vectors.next_multiple_of(24).max(24)).min(16);
        let by_registers = 4 * waves_a_simd / threads.div_ceil(32);
        let lds = about.lds_bytes + dynamic_lds;
        let by_lds = (128usize << 10).checked_div(lds).unwrap_or(usize::MAX);
        // SAFETY: the caller's promise.
        unsafe { give(blocks, by_registers.min(by_lds) as c_int) }
    }))
}

/// # Safety
/// `parameters` has a pointer for each argument of the kernel, each valid for that argument's size.
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
    parameters: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Error {
    if !extra.is_null() {
        return status(Err(NOT_SUPPORTED));
    }
    status(FUNCTIONS.get(function).and_then(|function| {
        let about = &function.kernel.about;
        let mut arguments = vec![0; about.argument_bytes];
        let explicit = about.arguments.iter().filter(|argument| !argument.kind.starts_with("hidden"));
        for (k, argument) in explicit.enumerate() {
            let slot =
                arguments.get_mut(argument.offset..argument.offset + argument.size).ok_or(INVALID_IMAGE)?;
            if parameters.is_null() {
                return Err(INVALID_VALUE);
            }
            // SAFETY: the caller's promise.
            unsafe {
                let value = parameters.add(k).read();
                if value.is_null() {
                    return Err(INVALID_VALUE);
                }
                std::ptr::copy_nonoverlapping(value.cast::<u8>(), slot.as_mut_ptr(), argument.size);
            }
        }
        let launch = Launch {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_lds: dynamic_lds as usize,
        };
        put(stream, Work::Launch { function, launch, arguments })
    }))
}
