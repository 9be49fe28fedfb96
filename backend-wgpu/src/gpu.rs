//! The opened device, shared by buffers and programs: errors, waiting, pipelines.

use crate::adapter::Caps;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft_core::backend::DeviceError;
use wgpu::{Device, Queue};

/// What was asked of a device since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Buffers made.
    pub buffers: u64,
    /// Command buffers submitted.
    pub submits: u64,
    /// Launches in them.
    pub launches: u64,
}

/// A device with its queue.
pub(crate) struct Gpu {
    pub device: Device,
    pub queue: Queue,
    pub caps: Caps,
    /// Why the device cannot be used any more.
    lost: Arc<Mutex<Option<String>>>,
    buffers: AtomicU64,
    submits: AtomicU64,
    launches: AtomicU64,
}

impl Gpu {
    pub(crate) fn new(device: Device, queue: Queue, caps: Caps) -> Self {
        let lost = Arc::new(Mutex::new(None));
        let note = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, message| {
            set(&note, format!("{reason:?}: {message}"));
        });
        let note = Arc::clone(&lost);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            tracing::error!(%error, "the device refused a command");
            set(&note, error.to_string());
        }));
        let (buffers, submits, launches) = Default::default();
        Gpu { device, queue, caps, lost, buffers, submits, launches }
    }

    /// Submits commands that hold so many launches.
    pub(crate) fn submit(&self, commands: wgpu::CommandBuffer, launches: usize) {
        self.submits.fetch_add(1, Ordering::Relaxed);
        self.launches.fetch_add(launches as u64, Ordering::Relaxed);
        self.queue.submit([commands]);
    }

    pub(crate) fn counters(&self) -> Counters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters { buffers: get(&self.buffers), submits: get(&self.submits), launches: get(&self.launches) }
    }

    /// Fails if the device was lost, or refused something outside an error scope.
    pub(crate) fn check(&self) -> Result<(), DeviceError> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.as_ref().map_or(Ok(()), |reason| Err(DeviceError::Lost { reason: reason.clone() }))
    }

    /// Waits for everything submitted so far, and lets callbacks run.
    pub(crate) fn wait(&self) -> Result<(), DeviceError> {
        self.poll(wgpu::PollType::wait_indefinitely())
    }

    /// Lets callbacks of finished work run.
    pub(crate) fn look(&self) -> Result<(), DeviceError> {
        self.poll(wgpu::PollType::Poll)
    }

    fn poll(&self, how: wgpu::PollType) -> Result<(), DeviceError> {
        let outcome = self.device.poll(how);
        self.check()?;
        outcome.map(|_| ()).map_err(|e| DeviceError::Lost { reason: e.to_string() })
    }

    /// Runs `make` with errors captured: the first of them, if there is one.
    pub(crate) fn captured<T>(&self, make: impl FnOnce() -> T) -> Result<T, wgpu::Error> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let made = make();
        let errors = [validation, internal, memory].map(|scope| pollster::block_on(scope.pop()));
        errors.into_iter().flatten().next().map_or(Ok(made), Err)
    }

    /// A buffer, or why there is none.
    pub(crate) fn buffer(
        &self,
        what: &str,
        bytes: u64,
        usage: wgpu::BufferUsages,
        mapped: bool,
    ) -> Result<wgpu::Buffer, DeviceError> {
        self.check()?;
        let most = self.device.limits().max_buffer_size;
        let refused = |granted| DeviceError::OutOfMemory { what: what.to_owned(), asked: bytes, granted };
        if bytes > most {
            return Err(refused(Some(most)));
        }
        self.buffers.fetch_add(1, Ordering::Relaxed);
        let descriptor =
            wgpu::BufferDescriptor { label: Some(what), size: bytes, usage, mapped_at_creation: mapped };
        self.captured(|| self.device.create_buffer(&descriptor)).map_err(|error| {
            tracing::warn!(%error, what, bytes, "no buffer");
            refused(None)
        })
    }
}

fn set(lost: &Mutex<Option<String>>, reason: String) {
    lost.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
}
