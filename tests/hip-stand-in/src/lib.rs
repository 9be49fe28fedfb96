//! The functions that an engine looks for in `libamdhip64.so` and in the run-time compiler, over a machine made of software.
//! A crate that has such a machine is built as a shared library with this one in it; it defines `hip_machine`:
//!
//! ```ignore
//! #[unsafe(no_mangle)]
//! fn hip_machine() -> &'static dyn hip_stand_in::Machine { &MINE }
//! ```
//!
//! Device memory is memory of this process, filled with NaN when it is allocated. Work runs when it is submitted. With
//! `HIP_STAND_IN_LAZY=1` it runs as late as the interface allows: not before the host asks for an event or waits for a
//! stream. A host that overwrites what a copy in flight still reads, or that reads a result too early, then gets wrong data.
//! With `HIP_STAND_IN_GRAPHS=refused` no graph is made, with `short` each leaves its last work undone.

mod compiler;
mod device;
mod graph;
mod memory;
mod module;
mod status;
mod stream;

pub use compiler::*;
pub use device::*;
pub use graph::*;
pub use memory::*;
pub use module::*;
pub use status::Status;
pub use stream::*;

use std::ffi::{CStr, c_void};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Every handle of the interface, and addresses on the device.
pub type Handle = *mut c_void;

/// What stands behind the interface.
pub trait Machine: Sync {
    /// The device's name.
    fn name(&self) -> &'static CStr;
    /// Its architecture, as `gfx1151`.
    fn architecture(&self) -> &'static CStr;
    /// Loads code.
    ///
    /// # Errors
    /// [`Refusal`] if it is not for this machine or not whole.
    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>, Refusal>;
    /// Compiles a text with the options of the run-time compiler.
    ///
    /// # Errors
    /// What the compiler said.
    fn compile(&self, name: &str, text: &str, options: &[String]) -> Result<Vec<u8>, String>;
    /// A number that changes when the same text would compile to other code.
    fn compiler_version(&self) -> i32;
}

/// Why code was not loaded.
pub enum Refusal {
    /// It is for another chip.
    OtherChip,
    /// What is wrong with it.
    Broken(String),
}

/// Code that is loaded.
pub trait Module: Send + Sync {
    /// An entry point.
    fn kernel(&self, name: &str) -> Option<Arc<dyn Kernel>>;
}

/// An entry point.
pub trait Kernel: Send + Sync {
    /// The bytes of each argument in the block of all arguments, in their order.
    fn arguments(&self) -> &[Range<usize>];
    /// Bytes of the block of all arguments.
    fn argument_bytes(&self) -> usize;
    /// Runs all blocks of a launch.
    ///
    /// # Errors
    /// What a thread did that it may not.
    fn launch(&self, launch: Launch, arguments: &[u8]) -> Result<(), String>;
}

/// The size of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Blocks in each dimension.
    pub grid: [u32; 3],
    /// Threads of a block, which has one dimension.
    pub threads: u32,
    /// Workgroup memory besides what the kernel declares.
    pub dynamic_lds: u32,
}

unsafe extern "Rust" {
    safe fn hip_machine() -> &'static dyn Machine;
}

/// A fault that a test must see even where the engine hides its reason.
fn complain(what: &str) {
    eprintln!("{}: {what}", hip_machine().name().to_string_lossy());
}

/// A lock that a panic elsewhere does not close.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives a value to the host as a handle.
fn boxed<T>(value: T) -> Handle {
    Box::into_raw(Box::new(value)).cast()
}

/// Ends what `boxed` made.
///
/// # Safety
/// The handle came from `boxed` of this type and is not used again.
unsafe fn unboxed<T>(handle: Handle) -> Option<Box<T>> {
    // SAFETY: as the caller promises.
    (!handle.is_null()).then(|| unsafe { Box::from_raw(handle.cast()) })
}

/// Writes a result where the host wants it.
///
/// # Safety
/// The pointer is null or valid for a write.
unsafe fn give<T>(to: *mut T, value: T) -> Status {
    if to.is_null() {
        return status::INVALID_VALUE;
    }
    // SAFETY: as the caller promises.
    unsafe { to.write(value) };
    status::SUCCESS
}
