//! Backends by name, as far as they are compiled in, and what they find on this machine.

#[cfg(feature = "cpu")]
mod cpu;
mod describe;
#[cfg(feature = "hip")]
mod hip;
#[cfg(test)]
mod tests;
#[cfg(feature = "wgpu")]
mod wgpu;

pub use describe::{AbsentReport, DeviceReport, KernelReport, MissingReport, VariantReport, describe};

use crate::Error;
#[cfg(any(feature = "hip", feature = "wgpu"))]
use std::path::PathBuf;
use std::sync::Arc;
use weft_core::backend::{Backend, DeviceError};
use weft_core::bandwidth;
use weft_core::profile::Profile;

/// How to open a backend.
#[derive(Clone, Debug)]
pub struct BackendOptions {
    /// CPU threads; 0 takes one per processor.
    pub threads: usize,
    /// Whether weights may be laid out anew for a device when they are loaded; else they lie there as in the file.
    pub repack: bool,
    /// Whether HIP submits what runs again as graphs, after it has compared each once with its launches.
    pub hip_graph: bool,
    /// Is told how many of how many shaders are compiled, by backends that compile some.
    pub shaders: Option<ShaderProgress>,
    /// Where the times of launches go, if they are to be timed.
    pub profile: Option<Arc<Profile>>,
    /// Whether [`found`] measures what a copy reaches on each device; that takes a second or two.
    pub measure: bool,
}

impl Default for BackendOptions {
    fn default() -> Self {
        BackendOptions {
            threads: 0,
            repack: true,
            hip_graph: false,
            shaders: None,
            profile: None,
            measure: false,
        }
    }
}

/// Is told how many of how many shaders are compiled, from any thread.
#[derive(Clone)]
pub struct ShaderProgress(pub Arc<dyn Fn(usize, usize) + Send + Sync>);

impl std::fmt::Debug for ShaderProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ShaderProgress")
    }
}

/// Which device of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// For `auto`: the best real one. One that is emulated in software is no reason to leave the CPU.
    Automatic,
    /// The backend was named: its best one, real before emulated.
    Best,
    /// The one at this place in the backend's own list.
    Index(usize),
    /// The first whose name contains this, capital letters or not.
    Named(String),
}

/// A device that a backend finds, or the reason why it finds none.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The backend's name.
    pub backend: &'static str,
    /// Its index behind the backend's name, and its name; `None` if there is no device.
    pub device: Option<(usize, String)>,
    /// What the driver says of it: driver, limits, features.
    pub detail: Vec<(String, String)>,
    /// What it is when it has opened and passed its self-test, and bytes that a copy moves in a second if that was to be
    /// measured; or why it does not work.
    pub status: Result<(DeviceReport, Option<f64>), String>,
}

impl Found {
    /// No device, and why.
    fn none(backend: &'static str, why: impl ToString) -> Self {
        Found { backend, device: None, detail: Vec::new(), status: Err(why.to_string()) }
    }

    /// A device, and what opening it gave.
    fn of(
        backend: &'static str,
        (index, name): (usize, String),
        detail: Vec<(String, String)>,
        opened: Result<&dyn Backend, DeviceError>,
        options: &BackendOptions,
    ) -> Self {
        let measured = |opened: &dyn Backend| match options.measure {
            true => bandwidth::copy(opened).map(Some),
            false => Ok(None),
        };
        // Devices that open have passed their self-test.
        let tested = opened.and_then(|opened| Ok((describe(opened), measured(opened)?)));
        Found {
            backend,
            device: Some((index, name)),
            detail,
            status: tested.map_err(|error| error.to_string()),
        }
    }
}

/// The user's folder for what can be made anew.
#[cfg(any(feature = "hip", feature = "wgpu"))]
fn cache() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = folder("XDG_CACHE_HOME")
        .or_else(|| folder("LOCALAPPDATA"))
        .or_else(|| folder("HOME").map(|home| home.join(".cache")));
    base.map(|base| base.join("weft"))
}

type Open = fn(&Choice, &BackendOptions) -> Result<Arc<dyn Backend>, DeviceError>;

/// A backend that is compiled in.
struct Kind {
    name: &'static str,
    /// Opens a device and tests it.
    open: Open,
    /// Every device, whether it works or not.
    find: fn(&BackendOptions) -> Vec<Found>,
}

/// Backends compiled in, the preferred first: hip, wgpu, cpu.
const KINDS: &[Kind] = &[
    #[cfg(feature = "hip")]
    hip::KIND,
    #[cfg(feature = "wgpu")]
    wgpu::KIND,
    #[cfg(feature = "cpu")]
    cpu::KIND,
];

/// Names of the backends compiled in, the preferred first.
pub fn known() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}

/// What each backend compiled in finds on this machine; with a name, what that one finds.
pub fn found(only: Option<&str>, options: &BackendOptions) -> Vec<Found> {
    let asked = |kind: &&Kind| only.is_none_or(|name| name == kind.name);
    KINDS.iter().filter(asked).flat_map(|kind| (kind.find)(options)).collect()
}

/// Opens a backend by name, `name:device` one of its devices, by index or a part of its name. `auto` takes the first
/// backend that opens and passes its self-test; one that does not is named in a warning.
///
/// The list begins with the one asked for; the CPU follows for nodes that it lacks.
///
/// # Errors
/// [`Error::NoBackend`] if the name is unknown; a device error if it cannot be opened.
pub fn open(name: &str, options: &BackendOptions) -> Result<Vec<Arc<dyn Backend>>, Error> {
    open_of(KINDS, name, options)
}

fn open_of(kinds: &[Kind], name: &str, options: &BackendOptions) -> Result<Vec<Arc<dyn Backend>>, Error> {
    let (first, kind) =
        if name == "auto" { automatic(kinds, options)? } else { named(kinds, name, options)? };
    let mut all = vec![first];
    if let Some(cpu) = kinds.iter().find(|other| other.name == "cpu" && kind.name != "cpu") {
        match (cpu.open)(&Choice::Automatic, options) {
            Ok(backend) => all.push(backend),
            Err(error) => tracing::warn!(%error, "no CPU for what the device lacks"),
        }
    }
    Ok(all)
}

type Opened<'k> = (Arc<dyn Backend>, &'k Kind);

fn automatic<'k>(kinds: &'k [Kind], options: &BackendOptions) -> Result<Opened<'k>, Error> {
    let mut last = None;
    for kind in kinds {
        match (kind.open)(&Choice::Automatic, options) {
            Ok(backend) => return Ok((backend, kind)),
            Err(error) => {
                // No device at all is nothing to be warned of.
                match &error {
                    DeviceError::Unavailable { .. } => {
                        tracing::info!(backend = kind.name, %error, "backend left out");
                    }
                    _ => tracing::warn!(backend = kind.name, %error, "backend left out"),
                }
                last = Some(error);
            }
        }
    }
    Err(last.map_or_else(|| unknown(kinds, "auto"), Error::from))
}

fn named<'k>(kinds: &'k [Kind], name: &str, options: &BackendOptions) -> Result<Opened<'k>, Error> {
    let (backend, device) = name.split_once(':').map_or((name, None), |(b, device)| (b, Some(device)));
    let kind = kinds.iter().find(|kind| kind.name == backend).ok_or_else(|| unknown(kinds, name))?;
    let choice = match device.map(|device| (device, device.parse())) {
        None => Choice::Best,
        Some((_, Ok(index))) => Choice::Index(index),
        Some(("", _)) => return Err(unknown(kinds, name)),
        Some((part, Err(_))) => Choice::Named(part.to_owned()),
    };
    Ok(((kind.open)(&choice, options)?, kind))
}

fn unknown(kinds: &[Kind], name: &str) -> Error {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
    let known = format!("auto, {}; one device of several is NAME:INDEX or NAME:PART", names.join(", "));
    Error::NoBackend { name: name.to_owned(), known }
}
