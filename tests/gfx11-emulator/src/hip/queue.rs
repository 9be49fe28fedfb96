//! Work and when it runs.
//!
//! All streams share one queue in the order of submission, which is always an order that their rules allow.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Instant;

use super::events::Event;
use super::modules::Function;
use super::{Error, Handle, INVALID_VALUE, LAST_FAULT, LAUNCH_FAILURE, UNKNOWN, device, locked};
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

/// Work with its stream.
static QUEUE: Mutex<VecDeque<(usize, Work)>> = Mutex::new(VecDeque::new());
/// The first error of each stream.
static FAILED: LazyLock<Mutex<HashMap<usize, Error>>> = LazyLock::new(Mutex::default);
static TURN: Mutex<()> = Mutex::new(());

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
pub(super) fn submit(stream: Handle, work: Work) -> Result<(), Error> {
    if !device().options().defer {
        return work.run();
    }
    locked(&QUEUE).push_back((stream as usize, work));
    Ok(())
}

/// Runs all that waits; the first error of a stream that was not told yet.
pub(super) fn finish(stream: Handle) -> Result<(), Error> {
    finish_all();
    told(locked(&FAILED).remove(&(stream as usize)))
}

/// Runs all that waits; the first error of any stream.
pub(super) fn finish_device() -> Result<(), Error> {
    finish_all();
    told(locked(&FAILED).drain().map(|(_, error)| error).next())
}

/// Runs all that waits; errors are told to those who wait for their streams.
pub(super) fn finish_all() {
    while advance() {}
}

fn told(error: Option<Error>) -> Result<(), Error> {
    error.map_or(Ok(()), Err)
}

/// Runs one piece of work; `false` when there is none. One thread at a time, so that the order holds.
pub(super) fn advance() -> bool {
    let _turn = locked(&TURN);
    let Some((stream, work)) = locked(&QUEUE).pop_front() else { return false };
    if let Err(error) = work.run() {
        locked(&FAILED).entry(stream).or_insert(error);
    }
    true
}

pub(super) fn is_idle() -> bool {
    let _turn = locked(&TURN);
    locked(&QUEUE).is_empty()
}
