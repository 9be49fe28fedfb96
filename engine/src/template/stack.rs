//! A thread with a stack deep enough, and a time long enough, for whatever a well-meant template does.
//!
//! The template engine compiles long chains (`a + a + …`, `not not …`, `elif` after `elif`) and drops, prints and compares
//! nested values by recursion, so that a template can use as much stack as it is long, or as it may run. Stack memory is
//! only reserved here; what a template does not touch costs nothing. Sums and slices of lists are lazy in that engine, and
//! going through sums of sums is not counted as work, so that time has to be bounded as well.

use std::time::Duration;

use super::TemplateError;

/// Stack that ordinary templates need, in bytes.
const BASE_STACK: usize = 8 << 20;
/// Stack that one byte of a template can use while it is compiled, with room to spare (the shortest link of a chain is
/// one byte, the costliest, `{%elif a%}`, ten).
const STACK_PER_BYTE: usize = 2048;
/// Stack that one step of a rendering can use, with room to spare: a step makes at most one level of a nested value.
const STACK_PER_STEP: usize = 1024;

/// The stack for compiling a template of some length.
pub(super) fn stack_for_source(bytes: usize) -> usize {
    BASE_STACK.saturating_add(bytes.saturating_mul(STACK_PER_BYTE))
}

/// The stack for a rendering of some steps.
pub(super) fn stack_for_steps(steps: u64) -> usize {
    let steps = usize::try_from(steps).unwrap_or(usize::MAX);
    BASE_STACK.saturating_add(steps.saturating_mul(STACK_PER_STEP))
}

/// Runs `work` on a stack of `bytes`, and turns a panic in it into an error. Work that is not done in time is left to
/// itself: a thread cannot be stopped from outside.
///
/// # Errors
/// `Engine` if there is no room for the stack or if `work` panics, `TimedOut` if it is not done in time.
#[cfg(not(target_family = "wasm"))]
pub(super) fn with_stack<T: Send + 'static>(
    bytes: usize,
    deadline: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TemplateError> {
    use std::sync::mpsc::{RecvTimeoutError, channel};

    let (give, take) = channel();
    let thread = std::thread::Builder::new().name("chat template".to_owned()).stack_size(bytes);
    // The receiver is gone only after the deadline; then nobody waits for the outcome.
    let thread = thread.spawn(move || drop(give.send(work())));
    thread.map_err(|error| TemplateError::Engine {
        reason: format!("no thread with a stack of {} MiB could be started ({error})", bytes >> 20),
    })?;
    take.recv_timeout(deadline).map_err(|error| match error {
        RecvTimeoutError::Timeout => TemplateError::TimedOut { seconds: deadline.as_secs() },
        RecvTimeoutError::Disconnected => TemplateError::Engine { reason: "it panicked".to_owned() },
    })
}

/// Runs `work` where threads do not exist; the host bounds stack and time.
///
/// # Errors
/// None.
#[cfg(target_family = "wasm")]
pub(super) fn with_stack<T>(
    _bytes: usize,
    _deadline: Duration,
    work: impl FnOnce() -> T,
) -> Result<T, TemplateError> {
    Ok(work())
}
