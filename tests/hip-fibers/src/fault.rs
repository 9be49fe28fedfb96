//! Threads that touch memory which is not there. The processor's signal becomes a fault of the launch, with the place in the
//! kernel's text. With the address sanitizer in the process its own report comes instead.

use crate::block::Worker;
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::process::Command;
use std::sync::OnceLock;

thread_local! {
    /// The worker of this CPU thread while a block runs.
    static RUNNING: Cell<*mut Worker> = const { Cell::new(std::ptr::null_mut()) };
    /// The instruction that did it.
    static PLACE: Cell<usize> = const { Cell::new(0) };
}

/// Runs a block.
pub(crate) fn watched(
    worker: &mut Worker,
    run: impl FnOnce(&mut Worker) -> Result<(), String>,
) -> Result<(), String> {
    install();
    ensure_stack()?;
    RUNNING.set(&raw mut *worker);
    let outcome = run(worker);
    RUNNING.set(std::ptr::null_mut());
    outcome.map_err(|what| match PLACE.replace(0) {
        0 => what,
        place => format!("{what} at {}", line_of(place)),
    })
}

const SIGNALS: [c_int; 3] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE];

fn before() -> &'static OnceLock<Vec<libc::sigaction>> {
    /// What the process did on these signals before.
    static BEFORE: OnceLock<Vec<libc::sigaction>> = OnceLock::new();
    &BEFORE
}

fn install() {
    before().get_or_init(|| {
        // SAFETY: a look at the symbols of the process; then handlers that hand on what is not theirs.
        unsafe {
            if !libc::dlsym(libc::RTLD_DEFAULT, c"__asan_init".as_ptr()).is_null() {
                return Vec::new();
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = caught;
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            let replace = |signal: &c_int| {
                let mut old = std::mem::zeroed();
                libc::sigaction(*signal, &raw const action, &raw mut old);
                old
            };
            SIGNALS.iter().map(replace).collect()
        }
    });
}

/// A stack for the handler: that of the fiber may be what is used up.
fn ensure_stack() -> Result<(), String> {
    const BYTES: usize = 1 << 16;
    // SAFETY: the thread's own setting; the new stack is never freed.
    unsafe {
        let mut present: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &raw mut present);
        if present.ss_flags & libc::SS_DISABLE != 0 {
            let memory = std::mem::ManuallyDrop::new(crate::stacks::Mapping::new(BYTES)?);
            let stack = libc::stack_t { ss_sp: memory.start().cast(), ss_flags: 0, ss_size: BYTES };
            libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        }
    }
    Ok(())
}

extern "C" fn caught(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system's records; the worker lives while `watched` runs.
    unsafe {
        let registers = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let [stack, place] =
            [libc::REG_RSP, libc::REG_RIP].map(|r| registers[r as usize].cast_unsigned() as usize);
        let worker = RUNNING.get().as_mut().filter(|worker| worker.owns(stack));
        let Some(worker) = worker else {
            // Not a kernel's: what was there before gets it when the instruction runs again.
            let old = SIGNALS.iter().zip(before().get().into_iter().flatten()).find(|(s, _)| **s == signal);
            if let Some((_, old)) = old {
                libc::sigaction(signal, old, std::ptr::null_mut());
            }
            return;
        };
        let thread = worker.present();
        let what = if signal == libc::SIGFPE {
            format!("thread {thread} divided by zero")
        } else {
            let address = (*info).si_addr() as usize;
            format!("thread {thread} touched {address:#x}, which is no memory")
        };
        PLACE.set(place);
        // The code that was interrupted is the kernel's, which holds no lock and allocates nothing.
        worker.abandon(what)
    }
}

/// The line of the text that an instruction comes from.
fn line_of(place: usize) -> String {
    // SAFETY: the loader fills the record or says that it cannot; its texts live as long as the library.
    let found = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(place as *const c_void, &raw mut info) != 0)
            .then(|| (CStr::from_ptr(info.dli_fname), place - info.dli_fbase as usize))
    };
    let Some((file, offset)) = found else { return format!("{place:#x}") };
    let file = file.to_string_lossy().into_owned();
    let said = ["addr2line", "llvm-addr2line-19"].iter().find_map(|program| {
        let ran = Command::new(program).args(["-i", "-e", &file, &format!("{offset:#x}")]).output().ok()?;
        ran.status.success().then(|| String::from_utf8_lossy(&ran.stdout).trim().replace('\n', ", in "))
    });
    said.unwrap_or_else(|| format!("{file}+{offset:#x}"))
}
