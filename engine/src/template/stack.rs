//! A stack that is deep enough for whatever a template does.
//!
//! The template engine compiles long chains (`a + a + …`, `not not …`, `elif` after `elif`) and drops, prints and compares
//! nested values by recursion, so that a template can use as much stack as it is long, or as it may run. Stack memory is
//! only reserved here; what a template does not touch costs nothing.

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

/// Runs `work` on a stack of `bytes`, and turns a panic in it into an error.
///
/// # Errors
/// `Engine` if there is no room for the stack, or if `work` panics.
#[cfg(not(target_family = "wasm"))]
pub(super) fn with_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> Result<T, TemplateError> {
    let name = "chat template".to_owned();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(name).stack_size(bytes).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| TemplateError::Engine {
            reason: format!("no thread with a stack of {} MiB could be started ({error})", bytes >> 20),
        })?;
        thread.join().map_err(|_| TemplateError::Engine { reason: "it panicked".to_owned() })
    })
}

/// Runs `work` where threads do not exist; the host bounds the stack.
///
/// # Errors
/// None.
#[cfg(target_family = "wasm")]
pub(super) fn with_stack<T>(_bytes: usize, work: impl FnOnce() -> T) -> Result<T, TemplateError> {
    Ok(work())
}
