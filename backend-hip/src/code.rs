//! Code of kernels: embedded objects for the chip that they were compiled for, the run-time compiler for all others.

use crate::compile::RuntimeCompiler;
use crate::device::Device;
use crate::module::{Function, Module};
use crate::sources;
use rayon::prelude::*;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The chip of the embedded objects.
pub(crate) const EMBEDDED: &str = "gfx1151";

/// (stem, compressed object) of every kernel.
static OBJECTS: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// Is told how many of how many kernels are compiled.
pub type Progress = Arc<dyn Fn(usize, usize) + Send + Sync>;

type Outcome = Result<Arc<Module>, String>;

/// A stem and, where its text has parts and is compiled here, one of these.
type Name = (&'static str, Option<&'static str>);

/// Modules of a device; loaded when a plan first needs them.
pub(crate) struct Code {
    device: Arc<Device>,
    compiler: RuntimeCompiler,
    progress: Option<Progress>,
    /// Empty while a module is being made.
    known: Mutex<HashMap<Name, Arc<OnceLock<Outcome>>>>,
}

impl Code {
    pub(crate) fn new(device: &Arc<Device>, cache: Option<PathBuf>, progress: Option<Progress>) -> Self {
        let compiler = RuntimeCompiler::new(device, cache);
        Code { device: Arc::clone(device), compiler, progress, known: Mutex::default() }
    }

    /// The module that holds an entry point of a stem.
    fn name(&self, stem: &'static str, function: &str) -> Name {
        let is_embedded = self.device.info.architecture == EMBEDDED;
        (stem, if is_embedded { None } else { sources::part(stem, function) })
    }

    /// Loads the modules of these entry points, each with its stem; those not known yet are compiled in parallel, each by one
    /// caller, for whom the others wait. What fails is remembered and told by [`Code::function`].
    pub(crate) fn load<'a>(&self, functions: impl Iterator<Item = (&'static str, &'a str)>) {
        let (mut new, mut others) = (Vec::new(), Vec::new());
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for (stem, function) in functions {
                let name = self.name(stem, function);
                match known.entry(name) {
                    Entry::Vacant(vacant) => new.push((name, Arc::clone(vacant.insert(Arc::default())))),
                    Entry::Occupied(place) => others.push((name, Arc::clone(place.get()))),
                }
            }
        }
        let done = AtomicUsize::new(0);
        new.par_iter().for_each(|(name, place)| {
            place.get_or_init(|| self.module(*name));
            if let Some(progress) = &self.progress {
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, new.len());
            }
        });
        for (name, place) in others {
            place.get_or_init(|| self.module(name));
        }
    }

    /// An entry point of a stem that was loaded.
    pub(crate) fn function(&self, stem: &'static str, function: &str) -> Result<Function, String> {
        let name = self.name(stem, function);
        let place = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
        let module = place.as_ref().and_then(|place| place.get());
        module
            .ok_or_else(|| format!("`{function}` was not loaded"))?
            .as_ref()
            .map_err(String::clone)?
            .function(function)
    }

    fn module(&self, name: Name) -> Outcome {
        Module::load(&self.device, &self.object(name)?)
    }

    fn object(&self, (stem, part): Name) -> Result<Vec<u8>, String> {
        if self.device.info.architecture == EMBEDDED {
            return embedded(stem);
        }
        match part {
            Some(part) => self.compiler.compile(&format!("{stem}.{part}"), &sources::part_text(stem, part)?),
            None => self.compiler.compile(stem, &sources::source_text(stem)?),
        }
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
