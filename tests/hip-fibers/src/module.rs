//! Compiled texts, loaded into the process.

use crate::block::{EXCHANGE, Entry, stop};
use crate::compile::keep;
use crate::launch::Function;
use hip_stand_in::{Kernel, Module, Refusal};
use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// A shared object of the host.
pub(crate) struct Library {
    handle: *mut c_void,
    lds: Option<Lds>,
}

// SAFETY: the handle is only looked symbols up in, which any thread may do.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

/// Variables that every CPU thread has its own of: the workgroup memory of the text's kernels.
#[derive(Clone, Copy)]
struct Lds {
    module: usize,
    bytes: usize,
}

/// Loads what `compile` made. Code stays mapped: reports of a sanitizer name its lines until the process ends.
pub(crate) fn load(image: &[u8]) -> Result<Box<dyn Module>, Refusal> {
    const X86_64: u8 = 62;
    if image.get(18) != Some(&X86_64) {
        return Err(Refusal::OtherChip);
    }
    let file = keep(image).map_err(Refusal::Broken)?;
    let path = CString::new(file.as_os_str().as_bytes()).map_err(|e| Refusal::Broken(e.to_string()))?;
    // SAFETY: the library was compiled from a kernel's text, which has no code that runs at loading.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        // SAFETY: the text is the loader's, and read at once.
        let why = unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy().into_owned();
        return Err(Refusal::Broken(why));
    }
    let mut library = Library { handle, lds: None };
    library.connect().map_err(Refusal::Broken)?;
    Ok(Box::new(Text(Arc::new(library))))
}

impl Library {
    fn symbol(&self, name: &str) -> Option<*mut c_void> {
        let name = CString::new(name).ok()?;
        // SAFETY: the library is loaded, the name ends in zero.
        let found = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!found.is_null()).then_some(found)
    }

    /// A number that the text declares.
    fn number(&self, name: &str) -> Option<usize> {
        // SAFETY: such names are of unsigned integers of 32 bits in every text.
        self.symbol(name).map(|at| unsafe { at.cast::<u32>().read() } as usize)
    }

    /// Tells the text where its threads stop.
    fn connect(&mut self) -> Result<(), String> {
        type Hook = unsafe extern "C" fn(*mut crate::block::Thread, u32, u32);
        let hook = self.symbol("pk_stop").ok_or("the text has no pk_stop: it does not include pk_cpu.h")?;
        let room = self.number("pk_exchange_bytes").ok_or("the text has no pk_exchange_bytes")?;
        if room > EXCHANGE {
            return Err(format!("lanes exchange {room} bytes, and {EXCHANGE} are there"));
        }
        // SAFETY: the text declares a pointer to such a function.
        unsafe { hook.cast::<Hook>().write(stop) };
        self.lds = find_lds(hook as usize);
        Ok(())
    }

    /// Bytes of workgroup memory of all kernels of the text.
    pub(crate) fn lds_bytes(&self) -> usize {
        self.lds.map_or(0, |lds| lds.bytes)
    }

    /// Fills the workgroup memory of this CPU thread with NaN: a kernel may read only what its own block wrote.
    pub(crate) fn spoil_lds(&self) {
        let Some(lds) = self.lds else { return };
        let index = TlsIndex { module: lds.module, offset: 0 };
        // SAFETY: the loader knows the module; the block of its variables has the size that its header told.
        unsafe { __tls_get_addr(&raw const index).cast::<u8>().write_bytes(0xff, lds.bytes) };
    }
}

/// A text's kernels.
struct Text(Arc<Library>);

impl Module for Text {
    fn kernel(&self, name: &str) -> Option<Arc<dyn Kernel>> {
        let entry = self.0.symbol(name)?;
        let bytes = self.0.number(&format!("{name}_bytes"))?;
        let most_threads = self.0.number(&format!("{name}_threads"))?;
        // SAFETY: a name that has these two beside it is a kernel.
        let entry = unsafe { std::mem::transmute::<*mut c_void, Entry>(entry) };
        Some(Arc::new(Function::new(name, entry, bytes, most_threads, Arc::clone(&self.0))))
    }
}

#[repr(C)]
struct TlsIndex {
    module: usize,
    offset: usize,
}

unsafe extern "C" {
    fn __tls_get_addr(index: *const TlsIndex) -> *mut c_void;
}

/// The thread-local variables of the module in which an address lies.
fn find_lds(address: usize) -> Option<Lds> {
    struct Search {
        address: usize,
        found: Option<Lds>,
    }
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _bytes: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader's record, and the search of the call below.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
        // SAFETY: the loader's table of that many rows.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let is_there = headers.iter().any(|header| {
            let start = (info.dlpi_addr + header.p_vaddr) as usize;
            header.p_type == libc::PT_LOAD
                && (start..start + header.p_memsz as usize).contains(&search.address)
        });
        if !is_there {
            return 0;
        }
        let lds = headers.iter().find(|header| header.p_type == libc::PT_TLS);
        search.found = lds.map(|lds| Lds { module: info.dlpi_tls_modid, bytes: lds.p_memsz as usize });
        1
    }
    let mut search = Search { address, found: None };
    // SAFETY: the search outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}
