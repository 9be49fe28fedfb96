//! Memory of the device, and pinned memory of the host that copies go through. No kernel ever reads the host's: on this
//! chip that has given wrong data, although both are the same silicon.

use crate::device::{Counts, Device};
use crate::ffi::{Handle, number};
use crate::stream::{Event, Stream};
use std::ptr::NonNull;
use std::sync::Arc;
use weft_core::backend::DeviceError;
use weft_core::quant::planes::Rows;

/// A block of device memory. Freed when dropped, after what uses it: the runtime waits.
pub(crate) struct Memory {
    pointer: Handle,
    bytes: u64,
    device: Arc<Device>,
}

// SAFETY: the pointer is an address on the device that the host never follows.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory with unknown content; at least one byte, so that it has an address.
    pub(crate) fn new(device: &Arc<Device>, what: &str, bytes: u64) -> Result<Self, DeviceError> {
        device.enter()?;
        let refused = |granted| DeviceError::OutOfMemory { what: what.to_owned(), asked: bytes, granted };
        let size = usize::try_from(bytes.max(1)).map_err(|_| refused(None))?;
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        match unsafe { (device.api().malloc)(&raw mut pointer, size) } {
            number::OUT_OF_MEMORY => Err(refused(free(device))),
            status => {
                device.check("hipMalloc", status)?;
                Ok(Memory { pointer, bytes, device: Arc::clone(device) })
            }
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The address of a byte.
    pub(crate) fn address(&self, offset: u64) -> u64 {
        self.pointer as u64 + offset
    }

    pub(super) fn at(&self, offset: u64) -> Handle {
        self.pointer.wrapping_byte_add(offset as usize)
    }

    /// Refuses a range that does not lie inside.
    pub(crate) fn check(&self, offset: u64, bytes: u64) -> Result<(), DeviceError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(()),
            end => {
                let end = end.unwrap_or(u64::MAX);
                Err(DeviceError::Outside { start: offset, end, bytes: self.bytes })
            }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the pointer came from hipMalloc and is freed once. A lost device answers with an error, which changes
        // nothing.
        unsafe {
            (self.device.api().set_device)(self.device.info.ordinal);
            (self.device.api().free)(self.pointer);
        }
    }
}

/// Free bytes of the device, if it says.
pub(crate) fn free(device: &Device) -> Option<u64> {
    let (mut free, mut total) = (0usize, 0usize);
    // SAFETY: both pointers are valid for the call.
    let status = unsafe { (device.api().memory_info)(&raw mut free, &raw mut total) };
    (status == 0).then_some(free as u64)
}

/// Host memory that the device's copy engine reaches.
pub(crate) struct Pinned {
    pointer: NonNull<u8>,
    bytes: usize,
    stream: Arc<Stream>,
    /// Behind the last copy, for the check in debug builds that the host writes nothing before.
    copied: Option<Event>,
}

// SAFETY: plain memory; the type hands out slices by the usual rules.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Zeroed memory for copies on a stream.
    pub(crate) fn new(stream: &Arc<Stream>, what: &str, bytes: u64) -> Result<Self, DeviceError> {
        let device = stream.device();
        device.enter()?;
        let refused = || DeviceError::OutOfMemory { what: what.to_owned(), asked: bytes, granted: None };
        let size = usize::try_from(bytes.max(1)).map_err(|_| refused())?;
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        let status = unsafe { (device.api().host_malloc)(&raw mut pointer, size, 0) };
        if status != number::OUT_OF_MEMORY {
            device.check("hipHostMalloc", status)?;
        }
        let pointer = NonNull::new(pointer.cast::<u8>()).ok_or_else(refused)?;
        // SAFETY: the block has this size.
        unsafe { pointer.as_ptr().write_bytes(0, size) };
        let copied = cfg!(debug_assertions).then(|| Event::new(stream)).transpose()?;
        Ok(Pinned { pointer, bytes: size, stream: Arc::clone(stream), copied })
    }

    /// The bytes. A copy to them must have ended.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the block has this size and is initialised; who reads has waited for the copy, and a copy that still runs
        // changes bytes, never the block.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.bytes) }
    }

    /// The bytes. A copy from or to them must have ended; a debug build counts where one has not.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        if let Some(copied) = &self.copied
            && matches!(copied.passed(), Ok(false))
        {
            tracing::error!("the host writes memory that a copy in flight still uses");
            Counts::add(&self.stream.device().counts.races);
        }
        // SAFETY: as for `bytes`, and borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.bytes) }
    }

    /// Notes that a copy from or to these bytes was just submitted.
    pub(super) fn in_flight(&self) -> Result<(), DeviceError> {
        self.copied.as_ref().map_or(Ok(()), Event::record)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // A copy that is still under way would reach memory that is given back.
        let _ = self.stream.synchronize();
        // SAFETY: the pointer came from hipHostMalloc and is freed once.
        unsafe { (self.stream.device().api().host_free)(self.pointer.as_ptr().cast()) };
    }
}

/// Part of a block of device memory.
#[derive(Clone)]
pub(crate) struct Region {
    pub memory: Arc<Memory>,
    /// Where it begins.
    pub offset: u64,
    /// Bytes that belong to it.
    pub bytes: u64,
    /// How a repacked weight lies in it.
    pub rows: Option<Rows>,
}

impl Region {
    /// A whole block.
    pub(crate) fn whole(memory: Memory) -> Self {
        Region { offset: 0, bytes: memory.bytes(), memory: Arc::new(memory), rows: None }
    }

    /// The address of a byte.
    pub(crate) fn address(&self, offset: u64) -> u64 {
        self.memory.address(self.offset + offset)
    }

    /// Refuses a range that does not lie inside.
    pub(crate) fn check(&self, offset: u64, bytes: u64) -> Result<(), DeviceError> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(()),
            end => {
                Err(DeviceError::Outside { start: offset, end: end.unwrap_or(u64::MAX), bytes: self.bytes })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Runtime;
    use std::process::Command;

    const THIS: &str = "memory::tests::a_write_before_a_copy_has_ended_is_counted";

    #[test]
    fn a_write_before_a_copy_has_ended_is_counted() {
        let program = std::env::current_exe().unwrap();
        // The stand-in runs copies late only if the environment says so: in a process of its own.
        if std::env::var_os("HIP_STAND_IN_LAZY").is_none() {
            let mut alone = Command::new(program);
            let status = alone.args(["--exact", THIS]).env("HIP_STAND_IN_LAZY", "1").status().unwrap();
            assert!(status.success());
            return;
        }
        let runtime = Runtime::open(Some(&program.with_file_name("libhip_fibers.so"))).unwrap();
        let info = runtime.devices().unwrap().remove(0);
        let device = Device::new(runtime, info);
        let races = || device.counts.read().races;
        let stream = Stream::new(&device).unwrap();
        let memory = Memory::new(&device, "memory", 16).unwrap();
        let mut pinned = Pinned::new(&stream, "pinned", 16).unwrap();
        pinned.bytes_mut().fill(1);
        assert_eq!(races(), 0);
        stream.upload(&pinned, 0, &memory, 0, 16).unwrap();
        pinned.bytes_mut().fill(2);
        assert_eq!(races(), 1);
        stream.synchronize().unwrap();
        pinned.bytes_mut().fill(3);
        stream.download(&memory, 0, &pinned, 0, 16).unwrap();
        pinned.bytes_mut().fill(4);
        assert_eq!(races(), 2);
        stream.synchronize().unwrap();
        pinned.bytes_mut().fill(5);
        assert_eq!(races(), 2);
    }
}
