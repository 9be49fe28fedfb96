//! Backends by name, as far as they are compiled in.

use crate::Error;
use std::sync::Arc;
use weft_core::backend::{Backend, DeviceError};

/// Names of the backends compiled in, the preferred first.
pub const KNOWN: &[&str] = &[
    #[cfg(feature = "cpu")]
    "cpu",
];

/// How to open a backend.
#[derive(Clone, Debug, Default)]
pub struct BackendOptions {
    /// CPU threads; 0 takes one per processor.
    pub threads: usize,
}

/// Opens a backend by name; `auto` takes the first that opens.
///
/// The list begins with the one asked for; others follow that take what it lacks.
///
/// # Errors
/// [`Error::NoBackend`] if the name is unknown; a device error if it cannot be opened.
pub fn open(name: &str, options: &BackendOptions) -> Result<Vec<Arc<dyn Backend>>, Error> {
    if name == "auto" {
        let mut last = None;
        for known in KNOWN {
            match open_one(known, options) {
                Ok(backend) => return Ok(vec![backend]),
                Err(error) => last = Some(error),
            }
        }
        return Err(last.unwrap_or(unknown(name)));
    }
    open_one(name, options).map(|backend| vec![backend])
}

fn unknown(name: &str) -> Error {
    Error::NoBackend { name: name.to_owned(), known: format!("auto, {}", KNOWN.join(", ")) }
}

fn open_one(name: &str, options: &BackendOptions) -> Result<Arc<dyn Backend>, Error> {
    match name {
        #[cfg(feature = "cpu")]
        "cpu" => {
            let options = weft_cpu::Options { threads: options.threads, ..weft_cpu::Options::default() };
            let cpu = weft_cpu::Cpu::open(&options).map_err(|e: DeviceError| Error::from(e))?;
            Ok(Arc::new(cpu))
        }
        _ => Err(unknown(name)),
    }
}
