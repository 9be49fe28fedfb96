//! The C interface of the HIP runtime, so that this library stands in for `libamdhip64.so`.
//!
//! Handles are numbers, never pointers: one that was destroyed or never made gives `hipErrorInvalidHandle`. Device addresses are
//! numbers too, so the host cannot touch device memory by mistake. Work runs when it is submitted or, with
//! `WEFT_EMULATOR_DEFER=1`, not before somebody waits for it: a host that changes the source of a copy in flight, or reads a
//! result too early, then gets wrong data. What stopped a kernel is printed, and kept: see [`last_fault`].
#![allow(non_snake_case, reason = "the names are those of the interface")]

mod compiler;
mod devices;
mod errors;
mod events;
mod graphs;
mod memory;
mod modules;
mod queue;
mod streams;

pub use compiler::*;
pub use devices::*;
pub use errors::*;
pub use events::*;
pub use graphs::*;
pub use memory::*;
pub use modules::*;
pub use streams::*;

use std::collections::HashMap;
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::fault::Fault;
use crate::options::Options;

/// Streams, events, modules, functions and graphs, and addresses on the device.
pub type Handle = *mut c_void;

static DEVICE: LazyLock<Device> = LazyLock::new(|| Device::new(*Options::get()));
static LAST_FAULT: Mutex<Option<Fault>> = Mutex::new(None);

/// The device behind the interface.
pub fn device() -> &'static Device {
    &DEVICE
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What stopped a kernel last.
pub fn last_fault() -> Option<Fault> {
    locked(&LAST_FAULT).clone()
}

/// Writes what stopped a kernel last as text with a zero behind it, cut to `bytes`; gives the length of all of it.
///
/// # Safety
/// `text` is null or has room for `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gfx11EmulatorLastFault(text: *mut c_char, bytes: usize) -> usize {
    let message = last_fault().map(|fault| fault.to_string()).unwrap_or_default();
    if !text.is_null() && bytes > 0 {
        let length = message.len().min(bytes - 1);
        // SAFETY: the caller's room is `bytes`, and length is less.
        unsafe {
            std::ptr::copy_nonoverlapping(message.as_ptr(), text.cast(), length);
            *text.add(length) = 0;
        }
    }
    message.len()
}

/// Things behind handles of one kind.
struct Handles<T> {
    live: Mutex<HashMap<usize, Arc<T>>>,
}

/// Numbers that look like no pointer.
static NEXT_HANDLE: AtomicUsize = AtomicUsize::new(0x1001);

impl<T> Handles<T> {
    fn new() -> Handles<T> {
        Handles { live: Mutex::new(HashMap::new()) }
    }

    fn add(&self, thing: T) -> Handle {
        let number = NEXT_HANDLE.fetch_add(16, Relaxed);
        locked(&self.live).insert(number, Arc::new(thing));
        number as Handle
    }

    fn get(&self, handle: Handle) -> Result<Arc<T>, Error> {
        locked(&self.live).get(&(handle as usize)).cloned().ok_or(INVALID_HANDLE)
    }

    fn remove(&self, handle: Handle) -> Result<Arc<T>, Error> {
        locked(&self.live).remove(&(handle as usize)).ok_or(INVALID_HANDLE)
    }
}

/// The status of a call, kept for `hipGetLastError` when it is an error.
fn status(result: Result<(), Error>) -> Error {
    match result {
        Ok(()) => SUCCESS,
        Err(error) => {
            errors::remember(error);
            error
        }
    }
}

/// Writes a result through a pointer of the caller.
///
/// # Safety
/// `to` is null or valid for a `T`.
unsafe fn give<T>(to: *mut T, value: T) -> Result<(), Error> {
    if to.is_null() {
        return Err(INVALID_VALUE);
    }
    // SAFETY: the caller's promise.
    unsafe { to.write(value) };
    Ok(())
}
