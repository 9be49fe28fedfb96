//! Ctrl-C: the first asks the running answer to stop, the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft::session::CancelHandle;

/// Shared with the signal handler.
#[derive(Clone, Default)]
pub struct Interrupt {
    pressed: Arc<AtomicBool>,
    prefill: Arc<Mutex<Option<CancelHandle>>>,
}

impl Interrupt {
    /// Installs the handler. At most once in a program.
    ///
    /// # Errors
    /// The system refuses it.
    pub fn install() -> anyhow::Result<Self> {
        let interrupt = Interrupt::default();
        let own = interrupt.clone();
        ctrlc::set_handler(move || {
            if own.pressed.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            if let Some(cancel) = &*own.prefill.lock().unwrap_or_else(PoisonError::into_inner) {
                cancel.cancel();
            }
        })?;
        Ok(interrupt)
    }

    /// Whether it was pressed since the last call of `clear`.
    pub fn pressed(&self) -> bool {
        self.pressed.load(Ordering::Relaxed)
    }

    /// Forgets an earlier press.
    pub fn clear(&self) {
        self.pressed.store(false, Ordering::Relaxed);
    }

    /// While a prompt is processed, a press cancels inside the ubatch; a press between tokens needs no more than a look.
    pub fn during_prefill<T>(&self, cancel: CancelHandle, work: impl FnOnce() -> T) -> T {
        let set = |handle| *self.prefill.lock().unwrap_or_else(PoisonError::into_inner) = handle;
        set(Some(cancel));
        let done = work();
        set(None);
        done
    }
}
