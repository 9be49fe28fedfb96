//! Work and when it runs.
//!
//! All streams share one queue in the order of submission, which is always an order that their rules allow.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::events::Event;
use super::modules::Function;
use super::{Error, INVALID_VALUE, LAST_FAULT, LAUNCH_FAILURE, UNKNOWN, device, locked};
use crate::launch::Launch;

/// Bytes of the host: taken along, or read when the copy runs.
#[derive(Clone)]
pub(super) enum Bytes {
    Taken(Vec<u8>),
    /// Address and length.
    There(usize, usize),
}

#[derive(Clone)]
pub(super) enum Work {
    Launch { function: Arc<Function>, launch: Launch, arguments: Vec<u8> },
    ToDevice { to: u64, from: Bytes },
    ToHost { to: usize, from: u64, bytes: usize },
    OnDevice { to: u64, from: u64, bytes: u64 },
    Fill { to: u64, pattern: Vec<u8>, bytes: usize },
    Record(Arc<Event>),
}

static QUEUE: Mutex<VecDeque<Work>> = Mutex::new(VecDeque::new());

impl Work {
    pub(super) fn run(&self) -> Result<(), Error> {
        let invalid = |_| INVALID_VALUE;
        match self {
            Work::Launch { function, launch, arguments } => run_kernel(function, launch, arguments),
            Work::ToDevice { to, from: Bytes::Taken(bytes) } => device().write(*to, bytes).map_err(invalid),
            Work::ToDevice { to, from: Bytes::There(at, length) } => {
                // SAFETY: the interface demands that the source of a copy lives until the copy is done.
                let bytes = unsafe { std::slice::from_raw_parts(*at as *const u8, *length) };
                device().write(*to, bytes).map_err(invalid)
            }
            Work::ToHost { to, from, bytes } => {
                let mut read = vec![0; *bytes];
                device().read(*from, &mut read).map_err(invalid)?;
                // SAFETY: as for the source, and of this many bytes.
                unsafe { std::ptr::copy_nonoverlapping(read.as_ptr(), *to as *mut u8, *bytes) };
                Ok(())
            }
            Work::OnDevice { to, from, bytes } => device().copy(*to, *from, *bytes).map_err(invalid),
            Work::Fill { to, pattern, bytes } => {
                let filled: Vec<u8> = pattern.iter().copied().cycle().take(*bytes).collect();
                device().write(*to, &filled).map_err(invalid)
            }
            Work::Record(event) => {
                event.reach(Instant::now());
                Ok(())
            }
        }
    }
}

fn run_kernel(function: &Function, launch: &Launch, arguments: &[u8]) -> Result<(), Error> {
    let run = || device().launch(&function.module, &function.kernel, launch, arguments);
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(fault)) => {
            eprintln!("gfx11 emulator: {fault}");
            *locked(&LAST_FAULT) = Some(fault);
            Err(LAUNCH_FAILURE)
        }
        Err(_) => {
            eprintln!("gfx11 emulator: {}: the emulator itself failed", function.kernel.name);
            Err(UNKNOWN)
        }
    }
}

/// Runs work now, or puts it behind what waits already.
pub(super) fn submit(work: Work) -> Result<(), Error> {
    if !device().options().defer {
        return work.run();
    }
    locked(&QUEUE).push_back(work);
    Ok(())
}

/// Runs all that waits; the first error.
pub(super) fn finish() -> Result<(), Error> {
    let mut result = Ok(());
    while let Some(ran) = advance() {
        result = result.and(ran);
    }
    result
}

/// Runs one piece of work, when there is one.
pub(super) fn advance() -> Option<Result<(), Error>> {
    let work = locked(&QUEUE).pop_front()?;
    Some(work.run())
}

pub(super) fn is_idle() -> bool {
    locked(&QUEUE).is_empty()
}
