//! Host memory as device buffers: owned and aligned, or borrowed from a mapped file.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use weft_core::backend::{DeviceError, HostBytes};

/// Bytes that a buffer or an arena is aligned to: a cache line pair.
const ALIGNMENT: usize = 256;

/// A block of bytes. Kernels of one program write it through raw pointers; the program's phases keep them apart.
pub(crate) struct Memory {
    start: *mut u8,
    bytes: usize,
    owner: Owner,
}

enum Owner {
    Allocated(Layout),
    Host(#[expect(dead_code, reason = "keeps the bytes alive")] HostBytes),
}

// SAFETY: the block is plain bytes. Writers are ordered by the program that owns them: phases and the submission lock.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

impl Memory {
    /// A zeroed block.
    pub(crate) fn zeroed(what: &str, bytes: u64) -> Result<Self, DeviceError> {
        let failed =
            || DeviceError::OutOfMemory { what: what.to_owned(), asked: bytes, granted: available() };
        let size = usize::try_from(bytes).map_err(|_| failed())?.max(1);
        let layout = Layout::from_size_align(size, ALIGNMENT).map_err(|_| failed())?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return Err(failed());
        }
        Ok(Memory { start, bytes: size, owner: Owner::Allocated(layout) })
    }

    /// Bytes that live elsewhere; never written.
    pub(crate) fn host(bytes: HostBytes) -> Self {
        let slice: &[u8] = (*bytes).as_ref();
        let (start, length) = (slice.as_ptr().cast_mut(), slice.len());
        Memory { start, bytes: length, owner: Owner::Host(bytes) }
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn check(&self, offset: u64, length: usize) -> Result<usize, DeviceError> {
        let end = offset.checked_add(length as u64).filter(|end| *end <= self.bytes as u64);
        match end {
            Some(_) => Ok(offset as usize),
            None => {
                let end = offset.saturating_add(length as u64);
                Err(DeviceError::Outside { start: offset, end, bytes: self.bytes as u64 })
            }
        }
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let at = self.check(offset, bytes.len())?;
        if matches!(self.owner, Owner::Host(_)) {
            return Err(DeviceError::ReadOnly { bytes: self.bytes as u64 });
        }
        // SAFETY: the range was checked; the source cannot overlap a block that only raw pointers reach.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at), bytes.len()) };
        Ok(())
    }

    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        let at = self.check(offset, into.len())?;
        // SAFETY: the range was checked; the target is a unique borrow outside the block.
        unsafe { std::ptr::copy_nonoverlapping(self.start.add(at), into.as_mut_ptr(), into.len()) };
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Owner::Allocated(layout) = self.owner {
            // SAFETY: allocated with this layout and freed once.
            unsafe { dealloc(self.start, layout) };
        }
    }
}

/// Bytes of memory that the system can still give, if it tells.
pub(crate) fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
