//! Stacks of fibers.

use std::ffi::c_void;

/// Bytes from one stack to the next. The kernels' text finds its thread by this number: it is `PK_STACK` there.
pub(crate) const STACK: usize = 1 << 18;
/// Threads of a block at most.
pub(crate) const MOST_THREADS: usize = 1024;

/// Anonymous memory that takes no place before it is touched.
pub(crate) struct Mapping {
    start: *mut c_void,
    bytes: usize,
}

impl Mapping {
    pub(crate) fn new(bytes: usize) -> Result<Self, String> {
        let (read_write, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: new memory at a place that the system chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, read_write, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(format!("no {bytes} bytes for fibers: {}", std::io::Error::last_os_error()));
        }
        Ok(Mapping { start, bytes })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, unmapped once.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}

/// Stacks for all threads of a block, each at a multiple of its size.
pub(crate) struct Stacks(Mapping);

impl Stacks {
    pub(crate) fn new() -> Result<Self, String> {
        let stacks = Stacks(Mapping::new((MOST_THREADS + 1) * STACK)?);
        for k in 0..MOST_THREADS {
            // A kernel that needs more than its stack stops here, not in its neighbour's.
            // SAFETY: the lowest page of a stack, which nothing uses.
            unsafe { libc::mprotect(stacks.slot(k).cast(), 4096, libc::PROT_NONE) };
        }
        Ok(stacks)
    }

    fn slot(&self, k: usize) -> *mut u8 {
        let start = self.0.start();
        let aligned = start.wrapping_add(start.align_offset(STACK));
        aligned.wrapping_add(k * STACK)
    }

    /// The end of a stack.
    pub(crate) fn top(&self, k: usize) -> *mut u8 {
        self.slot(k + 1)
    }

    /// Forgets what a sanitizer knows of frames on the stacks, after threads were left where they stood.
    pub(crate) fn forget_frames(&self) {
        // SAFETY: the function exists where the sanitizer's runtime is in the process, and takes any range of memory.
        unsafe {
            let unpoison = libc::dlsym(libc::RTLD_DEFAULT, c"__asan_unpoison_memory_region".as_ptr());
            if !unpoison.is_null() {
                let unpoison: extern "C" fn(*const c_void, usize) = std::mem::transmute(unpoison);
                unpoison(self.0.start, self.0.bytes);
            }
        }
    }
}
