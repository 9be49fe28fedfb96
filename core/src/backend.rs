//! What every backend meets: capabilities, kernels offered, memory, programs.
//!
//! Object-safe; no rule, model or file type in sight. Opening a device is each backend crate's own function and ends with
//! [`Backend::self_test`].

use crate::contract::Contract;
use crate::graph::{Layout, StorageId};
use crate::kernels::KernelError;
use crate::plan::Plan;
use std::any::Any;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;

/// A kernel that a backend has, in one variant.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// What the variant accepts: the kernel's contract or a narrower one of the same stem.
    pub contract: &'static Contract,
    /// Which implementation, for plans and reports.
    pub variant: &'static str,
    /// Whether it computes in f32 or better throughout; 8-bit dots and 16-bit tiles do not.
    pub exact: bool,
}

/// What a device can do, for reports and for choosing variants.
#[derive(Clone, Debug, Default)]
pub struct Capabilities {
    /// The device in words.
    pub device: String,
    /// Bytes of memory, if known.
    pub memory: Option<u64>,
    /// The largest single buffer, if limited.
    pub largest_buffer: Option<u64>,
    /// Features found, by name.
    pub features: Vec<String>,
    /// Whether tokens are better sampled here than from logits that the host reads back.
    pub prefers_device_sampling: bool,
    /// Variants of kernels that the backend has and this device cannot run.
    pub missing: Vec<Missing>,
}

/// A variant of a kernel that a device cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The kernel's stem.
    pub kernel: &'static str,
    /// The variant.
    pub variant: &'static str,
    /// Features that the device lacks for it, by name.
    pub needs: Vec<&'static str>,
}

/// A device's buffer. Dropping the last clone frees it.
#[derive(Clone)]
pub struct Buffer {
    /// Size in bytes.
    pub bytes: u64,
    /// The backend's own object.
    pub handle: Arc<dyn Any + Send + Sync>,
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.bytes)
    }
}

/// Bytes in host memory that outlive their use: a mapped file, an embedded model.
pub type HostBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Why a device could not do something.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum DeviceError {
    #[error("out of memory: `{what}` needs {asked} bytes{}", granted.map_or(String::new(), |g| format!(", {g} are left")))]
    OutOfMemory { what: String, asked: u64, granted: Option<u64> },
    #[error("dispatch {index} ({kernel}) cannot be built: {reason}")]
    Dispatch { index: usize, kernel: &'static str, reason: String },
    #[error("dispatch {index} ({kernel}) failed: {source}")]
    Kernel { index: usize, kernel: &'static str, source: KernelError },
    #[error("a buffer of {bytes} bytes is borrowed from a file and cannot be written")]
    ReadOnly { bytes: u64 },
    #[error("storage {storage:?} has no buffer here")]
    NoBuffer { storage: StorageId },
    #[error("bytes {start}..{end} lie outside a buffer of {bytes} bytes")]
    Outside { start: u64, end: u64, bytes: u64 },
    #[error("the run was cancelled")]
    Cancelled,
    #[error("the device was lost: {reason}")]
    Lost { reason: String },
    #[error("`{what}` cannot be read: {reason}")]
    Unreadable { what: String, reason: String },
    #[error("self-test of `{what}` failed: expected {expected}, got {got}")]
    SelfTest { what: &'static str, expected: String, got: String },
    #[error("backend `{name}` is not available: {reason}")]
    Unavailable { name: String, reason: String },
}

/// What a backend compiles: its part of a plan.
pub struct CompileRequest<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Which of the plan's devices this backend is.
    pub device: usize,
    /// Buffers of weights and states, by storage.
    pub buffers: &'a HashMap<StorageId, Buffer>,
}

/// One submission of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(pub u64);

/// A device with its kernels.
pub trait Backend: Send + Sync {
    /// Short name: `cpu`, `wgpu`, `hip`.
    fn name(&self) -> &str;
    /// What the device can do.
    fn capabilities(&self) -> &Capabilities;
    /// Bytes of memory that are free now, if the device tells.
    fn free_memory(&self) -> Option<u64> {
        self.capabilities().memory
    }
    /// Kernels offered; of one stem the preferred first.
    fn offers(&self) -> &[Offer];
    /// Device memory, zeroed. Fails inside this call, never later.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn allocate(&self, name: &str, bytes: u64) -> Result<Buffer, DeviceError>;
    /// A buffer with a weight's bytes, which `layout` describes. A backend that reads host memory directly need not copy
    /// them; one that keeps them in another order answers as if it had not.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`].
    fn import(&self, name: &str, bytes: HostBytes, _layout: &Layout) -> Result<Buffer, DeviceError> {
        let host = (*bytes).as_ref();
        let buffer = self.allocate(name, host.len() as u64)?;
        self.write(&buffer, 0, host)?;
        Ok(buffer)
    }
    /// Copies bytes to a buffer. The source may be reused when the call returns.
    ///
    /// # Errors
    /// [`DeviceError::Outside`], [`DeviceError::Lost`].
    fn write(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError>;
    /// Copies bytes from a buffer.
    ///
    /// # Errors
    /// [`DeviceError::Outside`], [`DeviceError::Lost`].
    fn read(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<(), DeviceError>;
    /// Makes everything that the plan's dispatches on this device need: pipelines, bindings, arena.
    ///
    /// # Errors
    /// [`DeviceError::Dispatch`] makes the planner forbid that claim and plan again.
    fn compile(&self, request: &CompileRequest<'_>) -> Result<Box<dyn Program>, DeviceError>;
    /// Runs a few kernels against known answers.
    ///
    /// # Errors
    /// [`DeviceError::SelfTest`] names the first that differs.
    fn self_test(&self) -> Result<(), DeviceError>;
}

/// A compiled part of a plan. Several submissions may be in flight; each owns its inputs.
pub trait Program: Send {
    /// Begins a submission and takes its inputs: (storage, bytes) pairs.
    ///
    /// # Errors
    /// An input is unknown or has another size.
    fn begin(&mut self, inputs: &[(StorageId, &[u8])]) -> Result<Ticket, DeviceError>;
    /// Starts one split of the plan. `cancel` is looked at between dispatches where the device allows.
    ///
    /// # Errors
    /// [`DeviceError::Kernel`], [`DeviceError::Cancelled`], [`DeviceError::Lost`].
    fn submit(
        &mut self,
        ticket: Ticket,
        split: usize,
        cancel: Option<&AtomicBool>,
    ) -> Result<(), DeviceError>;
    /// Whether everything submitted has finished. Never blocks, so it serves browsers too.
    ///
    /// # Errors
    /// As [`Program::submit`].
    fn poll(&mut self, ticket: Ticket) -> Result<bool, DeviceError>;
    /// Reads bytes of a storage once the work before it has finished.
    ///
    /// # Errors
    /// [`DeviceError::NoBuffer`], [`DeviceError::Outside`], [`DeviceError::Lost`].
    fn read(
        &mut self,
        ticket: Ticket,
        storage: StorageId,
        offset: u64,
        into: &mut [u8],
    ) -> Result<(), DeviceError>;
    /// Writes bytes of a storage between splits.
    ///
    /// # Errors
    /// As [`Program::read`].
    fn write(
        &mut self,
        ticket: Ticket,
        storage: StorageId,
        range: Range<u64>,
        bytes: &[u8],
    ) -> Result<(), DeviceError>;
}
