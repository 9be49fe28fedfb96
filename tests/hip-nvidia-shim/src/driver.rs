//! NVIDIA's driver, and the context that HIP has without being asked.

use crate::{Handle, Status};
use libloading::Library;
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::{Mutex, OnceLock, PoisonError};

pub(crate) const SUCCESS: Status = 0;
pub(crate) const INVALID_VALUE: Status = 1;
pub(crate) const NO_DEVICE: Status = 100;
pub(crate) const INVALID_DEVICE: Status = 101;
pub(crate) const NO_BINARY_FOR_GPU: Status = 209;
pub(crate) const NOT_READY: Status = 600;
pub(crate) const NOT_SUPPORTED: Status = 801;

/// Opens the first of these files.
pub(crate) fn open(names: &[String]) -> Result<Library, String> {
    let mut last = String::new();
    for name in names {
        // SAFETY: loading NVIDIA's libraries runs their own initialisers.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok(library),
            Err(error) => last = error.to_string(),
        }
    }
    eprintln!("HIP on NVIDIA: none of {names:?} opens: {last}");
    Err(last)
}

/// A function of the driver by name.
///
/// # Safety
/// `F` is the type of that function.
pub(crate) unsafe fn find<F: Copy>(name: &str) -> Option<F> {
    static DRIVER: OnceLock<Option<Library>> = OnceLock::new();
    let driver = DRIVER.get_or_init(|| open(&["libcuda.so.1".to_owned(), "libcuda.so".to_owned()]).ok());
    // SAFETY: as the caller promises; the library stays open.
    let found = unsafe { driver.as_ref()?.get::<F>(name.as_bytes()) };
    found.map_or_else(
        |_| {
            eprintln!("HIP on NVIDIA: the driver has no {name}");
            None
        },
        |function| Some(*function),
    )
}

/// Calls a function of the driver that is found once by its name; a failure is told.
macro_rules! driver {
    ($name:literal, ($($type:ty),*), $($argument:expr),*) => {{
        static FOUND: std::sync::OnceLock<Option<unsafe extern "C" fn($($type),*) -> crate::Status>> =
            std::sync::OnceLock::new();
        // SAFETY: the types are those of the driver's interface; what the host gave is what HIP's interface wants, which is
        // what the driver wants.
        unsafe {
            match FOUND.get_or_init(|| crate::driver::find($name)) {
                Some(function) => crate::driver::told($name, function($($argument),*)),
                None => crate::driver::NO_DEVICE,
            }
        }
    }};
}
pub(crate) use driver;

/// Tells a failure; that work is not done yet is none.
pub(crate) fn told(name: &str, status: Status) -> Status {
    if status != SUCCESS && status != NOT_READY {
        eprintln!("HIP on NVIDIA: {name} gives {status}");
    }
    status
}

const MOST_DEVICES: usize = 16;
/// Contexts by device, as numbers.
static CONTEXTS: Mutex<[usize; MOST_DEVICES]> = Mutex::new([0; MOST_DEVICES]);

thread_local! {
    static DEVICE: Cell<c_int> = const { Cell::new(0) };
}

pub(crate) fn present_device() -> c_int {
    DEVICE.get()
}

pub(crate) fn choose_device(device: c_int) {
    DEVICE.set(device);
}

pub(crate) fn initialise() -> Status {
    static DONE: OnceLock<Status> = OnceLock::new();
    *DONE.get_or_init(|| driver!("cuInit", (u32), 0))
}

/// Makes the device's context that of this thread.
fn enter() -> Status {
    let status = initialise();
    if status != SUCCESS {
        return status;
    }
    let device = DEVICE.get();
    let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(context) = usize::try_from(device).ok().and_then(|k| contexts.get_mut(k)) else {
        return INVALID_DEVICE;
    };
    if *context == 0 {
        let mut new: Handle = std::ptr::null_mut();
        let status = driver!("cuDevicePrimaryCtxRetain", (*mut Handle, c_int), &raw mut new, device);
        if status != SUCCESS {
            return status;
        }
        *context = new as usize;
    }
    let context = *context as Handle;
    driver!("cuCtxSetCurrent", (Handle), context)
}

/// Calls the driver in the context.
pub(crate) fn within(call: impl FnOnce() -> Status) -> Status {
    match enter() {
        SUCCESS => call(),
        status => status,
    }
}
