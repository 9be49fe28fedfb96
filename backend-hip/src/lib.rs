//! The HIP backend of weft: tuned kernels for AMD gfx1151, on the runtime that is found when a device is asked for.
//!
//! It offers each kernel of `weft-core` for every type and layout. For gfx1151 the code is compiled in; for other chips the
//! runtime's compiler makes it from the same texts.

mod arguments;
mod code;
mod compile;
mod device;
mod ffi;
mod graph;
mod kernels;
mod launches;
mod memory;
mod module;
mod profile;
mod program;
mod ready;
mod replay;
mod slots;
mod sources;
mod stream;
mod transfer;

pub use code::Progress;
pub use device::Counters;
pub use ffi::LoadError;
pub use launches::{entry_points, offers};
pub use sources::{part_text, parts, source_text, stems};

use code::Code;
use device::{Device, Info, Runtime};
use kernels::implementations;
use memory::{Memory, Region};
use program::{HipProgram, Setup, region};
use std::path::PathBuf;
use std::sync::Arc;
use stream::Stream;
use transfer::Transfer;
use weft_core::backend::{
    Backend, Buffer, Capabilities, CompileRequest, DeviceError, HostBytes, Offer, Program,
};
use weft_core::graph::Layout;
use weft_core::profile::Profile;
use weft_core::quant::planes::Rows;
use weft_core::self_test;

/// Types of HIP's interface, as hip-sys declares them. Functions are not among them: nothing is linked.
#[cfg(feature = "hip-sys")]
pub mod types {
    pub use hip_sys::hiprt::{
        hipDevice_t, hipDeviceAttribute_t, hipDeviceptr_t, hipError_t, hipEvent_t, hipFunction_t, hipGraph_t,
        hipGraphExec_t, hipMemcpyKind, hipModule_t, hipStream_t, hipStreamCaptureMode,
    };
}

/// How to open a device.
#[derive(Clone)]
pub struct Options {
    /// The backend's name in plans and reports.
    pub name: String,
    /// The runtime's file; else it is looked for where ROCm puts it.
    pub library: Option<PathBuf>,
    /// Index of the device, or part of its name; else the first.
    pub device: Option<String>,
    /// Whether weights are repacked when they are imported; else they lie as in the file.
    pub repack: bool,
    /// Whether activations are filled with NaN before each run.
    pub poison: bool,
    /// Where the times of launches go, if they are to be timed. Slows the whole down.
    pub profile: Option<Arc<Profile>>,
    /// Whether what runs again, as a decoded token does, is recorded and submitted as a graph. Launches that are timed are
    /// not: events stand between them. While a graph is compared with its launches, the host holds two copies of the states.
    pub graphs: bool,
    /// Folder for compiled kernels of chips without embedded code.
    pub cache: Option<PathBuf>,
    /// Is told how many of how many kernels are loaded.
    pub progress: Option<Progress>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            name: "hip".to_owned(),
            library: None,
            device: None,
            repack: true,
            poison: false,
            profile: None,
            graphs: false,
            cache: None,
            progress: None,
        }
    }
}

/// A device that the runtime knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its place in the runtime's list.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// `gfx1151` and so on.
    pub architecture: String,
    /// The runtime's file and version.
    pub driver: String,
    /// More about it: what and its value.
    pub detail: Vec<(String, String)>,
}

fn unavailable(options: &Options, reason: impl Into<String>) -> DeviceError {
    DeviceError::Unavailable { name: options.name.clone(), reason: reason.into() }
}

fn runtime(options: &Options) -> Result<(Arc<Runtime>, Vec<Info>), DeviceError> {
    let runtime =
        Runtime::open(options.library.as_deref()).map_err(|e| unavailable(options, e.to_string()))?;
    let devices = runtime.devices().map_err(|e| unavailable(options, e))?;
    if devices.is_empty() {
        return Err(unavailable(options, format!("{} knows no device", runtime.path)));
    }
    Ok((runtime, devices))
}

/// Every device of the runtime that `options` names.
///
/// # Errors
/// [`DeviceError::Unavailable`] if there is no runtime, or no device.
pub fn devices(options: &Options) -> Result<Vec<Found>, DeviceError> {
    let (runtime, devices) = runtime(options)?;
    let found = |(index, info): (usize, Info)| Found {
        index,
        name: info.name,
        architecture: info.architecture,
        driver: format!("{} {}", runtime.path, version(runtime.version)),
        detail: vec![
            ("memory".to_owned(), format!("{} MiB", info.memory >> 20)),
            ("multiprocessors".to_owned(), info.multiprocessors.to_string()),
            ("lanes of a wave".to_owned(), info.wave.to_string()),
            ("workgroup memory".to_owned(), format!("{} KiB", info.shared >> 10)),
        ],
    };
    Ok(devices.into_iter().enumerate().map(found).collect())
}

/// `7.2.0` from 70200000.
fn version(number: i32) -> String {
    format!("{}.{}.{}", number / 10_000_000, number / 100_000 % 100, number % 100_000)
}

/// A GPU as a device.
pub struct Hip {
    name: String,
    capabilities: Capabilities,
    offers: Vec<Offer>,
    repack: bool,
    setup: Setup,
}

impl Hip {
    /// Opens a device and tests a few kernels.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`] if there is no runtime or no such device, [`DeviceError::SelfTest`] if a kernel computes
    /// something else than its reference.
    pub fn open(options: &Options) -> Result<Self, DeviceError> {
        let (runtime, devices) = runtime(options)?;
        let info = choose(options, devices)?;
        if info.wave != 32 {
            let chip = &info.architecture;
            return Err(unavailable(options, format!("{chip} has waves of {}; 32 are needed", info.wave)));
        }
        let driver = format!("{} {}", runtime.path, version(runtime.version));
        let device = Device::new(runtime, info);
        let stream = Stream::new(&device)?;
        let implementations = implementations();
        let capabilities = Capabilities {
            device: format!("{} ({}, {driver})", device.info.name, device.info.architecture),
            memory: Some(device.info.memory),
            largest_buffer: Some(device.info.memory),
            features: vec![device.info.architecture.clone()],
            prefers_device_sampling: true,
            missing: Vec::new(),
        };
        let backend = Hip {
            name: options.name.clone(),
            capabilities,
            offers: implementations.iter().map(|i| i.offer).collect(),
            repack: options.repack,
            setup: Setup {
                transfer: Arc::new(Transfer::new(&stream)),
                stream,
                code: Code::new(&device, options.cache.clone(), options.progress.clone()),
                implementations,
                poison: options.poison,
                graphs: options.graphs,
                profile: options.profile.clone(),
            },
        };
        backend.self_test()?;
        Ok(backend)
    }

    /// What was done on the device so far.
    pub fn counters(&self) -> Counters {
        self.setup.stream.device().counts.read()
    }

    /// Gives the device up, as if it had been lost: everything on it fails from now on. For tests of what follows.
    pub fn lose(&self) {
        self.setup.stream.device().lose("it was given up");
    }
}

/// The device that the options name: by index, or by part of its name or architecture.
fn choose(options: &Options, devices: Vec<Info>) -> Result<Info, DeviceError> {
    let names: Vec<String> = devices.iter().map(|d| format!("{} ({})", d.name, d.architecture)).collect();
    let wanted = options.device.as_deref().unwrap_or("0");
    let at = match wanted.parse::<usize>() {
        Ok(index) => Some(index),
        Err(_) => names.iter().position(|name| name.to_lowercase().contains(&wanted.to_lowercase())),
    };
    at.and_then(|at| devices.into_iter().nth(at))
        .ok_or_else(|| unavailable(options, format!("no device `{wanted}`; there are {}", names.join(", "))))
}

impl Backend for Hip {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn free_memory(&self) -> Option<u64> {
        let device = self.setup.stream.device();
        device.enter().ok().and_then(|()| memory::free(device))
    }

    fn offers(&self) -> &[Offer] {
        &self.offers
    }

    fn allocate(&self, name: &str, bytes: u64) -> Result<Buffer, DeviceError> {
        let stream = &self.setup.stream;
        let memory = Memory::new(stream.device(), name, bytes)?;
        stream.fill(&memory, 0, bytes, 0)?;
        Ok(Buffer { bytes, handle: Arc::new(Region::whole(memory)) })
    }

    fn import(&self, name: &str, bytes: HostBytes, layout: &Layout) -> Result<Buffer, DeviceError> {
        let host: &[u8] = (*bytes).as_ref();
        let rows = if self.repack { Rows::of(layout) } else { None };
        let region = self.setup.transfer.import(name, host, rows)?;
        Ok(Buffer { bytes: host.len() as u64, handle: Arc::new(region) })
    }

    fn write(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let region = region(to)?;
        if region.rows.is_some() {
            return Err(DeviceError::ReadOnly { bytes: to.bytes });
        }
        self.setup.transfer.write(region, offset, bytes)
    }

    fn read(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        self.setup.transfer.read(region(from)?, offset, into)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Box<dyn Program>, DeviceError> {
        Ok(Box::new(HipProgram::compile(&self.setup, request)?))
    }

    fn self_test(&self) -> Result<(), DeviceError> {
        self_test::run(self)
    }
}
