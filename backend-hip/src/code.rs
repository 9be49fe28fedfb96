//! Code of kernels: embedded objects for the chip that they were compiled for, the run-time compiler for all others.

use crate::compile::RuntimeCompiler;
use crate::device::Device;
use crate::module::{Function, Module};
use crate::sources;
use rayon::prelude::*;
use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The chip of the embedded objects.
pub(crate) const EMBEDDED: &str = "gfx1151";

/// (stem, compressed object) of every kernel.
static OBJECTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// Is told how many of how many kernels are compiled.
pub type Progress = Arc<dyn Fn(usize, usize) + Send + Sync>;

type Outcome = Result<Arc<Module>, String>;

/// Modules of a device, by stem; loaded when a plan first needs them.
pub(crate) struct Code {
    device: Arc<Device>,
    compiler: RuntimeCompiler,
    progress: Option<Progress>,
    known: Mutex<HashMap<&'static str, Outcome>>,
}

impl Code {
    pub(crate) fn new(device: &Arc<Device>, cache: Option<PathBuf>, progress: Option<Progress>) -> Self {
        let compiler = RuntimeCompiler::new(device, cache);
        Code { device: Arc::clone(device), compiler, progress, known: Mutex::default() }
    }

    /// Loads the modules of these stems; those not known yet are compiled in parallel. What fails is remembered and told by
    /// [`Code::function`].
    pub(crate) fn load(&self, stems: &[&'static str]) {
        let mut new: Vec<&'static str> = Vec::new();
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for stem in stems {
                if !known.contains_key(stem) && !new.contains(stem) {
                    new.push(stem);
                }
            }
        }
        let done = AtomicUsize::new(0);
        let objects: Vec<Result<Vec<u8>, String>> = new
            .par_iter()
            .map(|stem| {
                let object = self.object(stem);
                if let Some(progress) = &self.progress {
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, new.len());
                }
                object
            })
            .collect();
        for (stem, object) in new.into_iter().zip(objects) {
            let module = object.and_then(|object| Module::load(&self.device, &object));
            self.known.lock().unwrap_or_else(PoisonError::into_inner).entry(stem).or_insert(module);
        }
    }

    /// An entry point of a stem that was loaded.
    pub(crate) fn function(&self, stem: &str, name: &str) -> Result<Function, String> {
        let module = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.get(stem).cloned().ok_or_else(|| format!("`{stem}` was not loaded"))??
        };
        module.function(name)
    }

    fn object(&self, stem: &str) -> Result<Vec<u8>, String> {
        if self.device.info.architecture == EMBEDDED {
            return embedded(stem);
        }
        self.compiler.compile(stem, &sources::source_text(stem)?)
    }
}

/// The embedded object of a stem. A debug build takes `<stem>.co` from the folder that `WEFT_OBJECTS` names, if it is set.
fn embedded(stem: &str) -> Result<Vec<u8>, String> {
    if cfg!(debug_assertions)
        && let Some(folder) = std::env::var_os("WEFT_OBJECTS")
    {
        let file = std::path::Path::new(&folder).join(format!("{stem}.co"));
        return std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()));
    }
    let (_, compressed) =
        OBJECTS.iter().find(|(name, _)| *name == stem).ok_or_else(|| format!("no object for `{stem}`"))?;
    let mut object = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(*compressed)
        .map_err(|e| format!("the object of `{stem}`: {e}"))?
        .read_to_end(&mut object)
        .map_err(|e| format!("the object of `{stem}`: {e}"))?;
    Ok(object)
}
