//! A queue of work on the device, and marks in it.

use crate::device::{Counts, Device};
use crate::ffi::{Handle, Status, number};
use crate::memory::{Memory, Pinned};
use crate::module::Function;
use std::sync::Arc;
use weft_core::backend::DeviceError;

/// Work that runs in order.
pub(crate) struct Stream {
    handle: Handle,
    device: Arc<Device>,
}

// SAFETY: the runtime's calls on a stream may come from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    pub(crate) fn new(device: &Arc<Device>) -> Result<Arc<Self>, DeviceError> {
        device.enter()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        let status = unsafe { (device.api().stream_create)(&raw mut handle, number::STREAM_NON_BLOCKING) };
        device.check("hipStreamCreateWithFlags", status)?;
        Ok(Arc::new(Stream { handle, device: Arc::clone(device) }))
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    /// Waits until everything submitted has ended.
    pub(crate) fn synchronize(&self) -> Result<(), DeviceError> {
        self.device.enter()?;
        // SAFETY: the stream is alive.
        let status = unsafe { (self.device.api().stream_synchronize)(self.handle) };
        self.device.check("hipStreamSynchronize", status)
    }

    /// Copies the first bytes of pinned memory to the device. They may not change before an event behind the copy.
    pub(crate) fn upload(
        &self,
        from: &Pinned,
        start: u64,
        to: &Memory,
        offset: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        to.check(offset, bytes)?;
        let source = inside(from, start, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both ranges were checked; pinned memory waits for its stream before it goes, device memory as hipFree does.
        let status = unsafe {
            let (to, from, size) = (to.at(offset), source.as_ptr().cast(), bytes as usize);
            (self.device.api().copy_async)(to, from, size, number::COPY_TO_DEVICE, self.handle)
        };
        self.device.check("hipMemcpyAsync", status)?;
        from.in_flight()
    }

    /// Copies bytes of the device to pinned memory. They are there after an event behind the copy.
    pub(crate) fn download(
        &self,
        from: &Memory,
        offset: u64,
        to: &Pinned,
        start: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        from.check(offset, bytes)?;
        let target = inside(to, start, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both ranges were checked; the host reads the pinned bytes only after an event.
        let status = unsafe {
            let (to, from, size) = (target.as_ptr().cast_mut().cast(), from.at(offset), bytes as usize);
            (self.device.api().copy_async)(to, from, size, number::COPY_TO_HOST, self.handle)
        };
        self.device.check("hipMemcpyAsync", status)?;
        to.in_flight()
    }

    /// Sets bytes.
    pub(crate) fn fill(
        &self,
        memory: &Memory,
        offset: u64,
        bytes: u64,
        value: u8,
    ) -> Result<(), DeviceError> {
        memory.check(offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the range was checked.
        let status = unsafe {
            let (at, size) = (memory.at(offset), bytes as usize);
            (self.device.api().set_bytes_async)(at, value.into(), size, self.handle)
        };
        self.device.check("hipMemsetAsync", status)
    }

    /// Starts a kernel. Its arguments are copied before the call returns.
    pub(crate) fn launch(
        &self,
        function: &Function,
        groups: [u32; 3],
        threads: u32,
        arguments: &mut [u64],
    ) -> Result<(), DeviceError> {
        Counts::add(&self.device.counts.launches);
        let status = self.put(function, groups, threads, arguments);
        self.device.check("hipModuleLaunchKernel", status)
    }

    /// Puts a launch into the stream, to be run or to be recorded.
    pub(crate) fn put(
        &self,
        function: &Function,
        groups: [u32; 3],
        threads: u32,
        arguments: &mut [u64],
    ) -> Status {
        let mut parameters = [arguments.as_mut_ptr().cast()];
        let [x, y, z] = groups;
        let none = std::ptr::null_mut();
        // SAFETY: the function takes one structure, which `arguments` holds as the kernel's text declares it; addresses in it
        // are of memory that the program keeps.
        unsafe {
            (self.device.api().launch)(
                function.handle(),
                x,
                y,
                z,
                threads,
                1,
                1,
                0,
                self.handle,
                parameters.as_mut_ptr(),
                none,
            )
        }
    }
}

fn inside(pinned: &Pinned, start: u64, bytes: u64) -> Result<&[u8], DeviceError> {
    let all = pinned.bytes();
    let end = start.saturating_add(bytes);
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| all.get(start..end)).ok_or(DeviceError::Outside {
        start,
        end,
        bytes: all.len() as u64,
    })
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the stream is destroyed once; the runtime ends its work first.
        unsafe { (self.device.api().stream_destroy)(self.handle) };
    }
}

/// A mark in a stream.
pub(crate) struct Event {
    handle: Handle,
    stream: Arc<Stream>,
}

// SAFETY: the runtime's calls on an event may come from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    pub(crate) fn new(stream: &Arc<Stream>) -> Result<Self, DeviceError> {
        let device = stream.device();
        device.enter()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        let status = unsafe { (device.api().event_create)(&raw mut handle, 0) };
        device.check("hipEventCreateWithFlags", status)?;
        Ok(Event { handle, stream: Arc::clone(stream) })
    }

    /// Marks what was submitted so far.
    pub(crate) fn record(&self) -> Result<(), DeviceError> {
        let device = self.stream.device();
        // SAFETY: event and stream are alive.
        let status = unsafe { (device.api().event_record)(self.handle, self.stream.handle) };
        device.check("hipEventRecord", status)
    }

    /// Whether the device has passed the mark.
    pub(crate) fn passed(&self) -> Result<bool, DeviceError> {
        let device = self.stream.device();
        device.enter()?;
        // SAFETY: the event is alive.
        match unsafe { (device.api().event_query)(self.handle) } {
            number::NOT_READY => Ok(false),
            status => device.check("hipEventQuery", status).map(|()| true),
        }
    }

    /// Waits until the device has passed the mark.
    pub(crate) fn wait(&self) -> Result<(), DeviceError> {
        let device = self.stream.device();
        device.enter()?;
        // SAFETY: the event is alive.
        let status = unsafe { (device.api().event_synchronize)(self.handle) };
        device.check("hipEventSynchronize", status)
    }

    /// Milliseconds since an earlier mark. Both must have been passed.
    pub(crate) fn since(&self, earlier: &Event) -> Result<f32, DeviceError> {
        let device = self.stream.device();
        let mut time = 0.0;
        // SAFETY: both events are alive, the pointer is valid for the call.
        let status = unsafe { (device.api().event_elapsed)(&raw mut time, earlier.handle, self.handle) };
        device.check("hipEventElapsedTime", status)?;
        Ok(time)
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is destroyed once.
        unsafe { (self.stream.device().api().event_destroy)(self.handle) };
    }
}
