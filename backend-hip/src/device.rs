//! A GPU that the runtime knows.

use crate::ffi::{self, Api, Compiler, LoadError, Ordinal, Status, number};
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use weft_core::backend::DeviceError;

/// The runtime, opened.
pub(crate) struct Runtime {
    pub(crate) api: Api,
    /// The run-time compiler, or why there is none.
    pub(crate) compiler: Result<Compiler, LoadError>,
    /// The file it was loaded from.
    pub(crate) path: String,
    /// Its version, as ten millions of the major number and so on.
    pub(crate) version: c_int,
}

/// What the runtime says of a device.
#[derive(Clone, Debug)]
pub(crate) struct Info {
    pub ordinal: Ordinal,
    pub name: String,
    /// `gfx1151` and so on.
    pub architecture: String,
    pub memory: u64,
    /// Work-group processors on gfx10 and later, compute units before.
    pub multiprocessors: u32,
    pub wave: u32,
    /// Workgroup memory of a block, in bytes.
    pub shared: u32,
}

impl Runtime {
    /// Opens the runtime: this file, or the first that is found.
    pub(crate) fn open(file: Option<&Path>) -> Result<Arc<Self>, LoadError> {
        let (api, path) = ffi::open_runtime(file)?;
        let compiler = ffi::open_compiler(&path).map(|(compiler, _)| compiler);
        let mut version = 0;
        // SAFETY: both calls take what the table says; a runtime without a GPU answers them with an error.
        unsafe {
            (api.init)(0);
            (api.runtime_version)(&raw mut version);
        }
        Ok(Arc::new(Runtime { api, compiler, path, version }))
    }

    /// An error's name and what it means, in the runtime's words.
    pub(crate) fn describe(&self, call: &str, status: Status) -> String {
        // SAFETY: the runtime answers any number with a static string or null.
        let text = |pointer: *const c_char| unsafe {
            (!pointer.is_null()).then(|| CStr::from_ptr(pointer).to_string_lossy().into_owned())
        };
        // SAFETY: as above.
        let (name, meaning) =
            unsafe { (text((self.api.error_name)(status)), text((self.api.error_string)(status))) };
        let (name, meaning) = (name.unwrap_or_default(), meaning.unwrap_or_default());
        let hint = match status {
            number::NO_BINARY_FOR_GPU => {
                "; the runtime knows no code for this chip: ROCm 7.2 or later is needed"
            }
            number::NO_DEVICE => {
                "; is the amdgpu driver loaded, and may this user open /dev/kfd and /dev/dri?"
            }
            _ => "",
        };
        format!("{call}: {name} ({status}) {meaning}{hint}")
    }

    /// Every device.
    pub(crate) fn devices(&self) -> Result<Vec<Info>, String> {
        let mut count = 0;
        // SAFETY: the pointer is valid for the call.
        match unsafe { (self.api.device_count)(&raw mut count) } {
            0 => (0..count).map(|ordinal| self.info(ordinal)).collect(),
            status => Err(self.describe("hipGetDeviceCount", status)),
        }
    }

    fn info(&self, ordinal: Ordinal) -> Result<Info, String> {
        let attribute = |which: c_int| {
            let mut value = 0;
            // SAFETY: the pointer is valid for the call.
            match unsafe { (self.api.device_attribute)(&raw mut value, which, ordinal) } {
                0 => Ok(value.max(0).unsigned_abs()),
                status => Err(self.describe("hipDeviceGetAttribute", status)),
            }
        };
        let (mut name, mut memory) = ([0u8; 256], 0usize);
        // SAFETY: the buffer has the length that is passed.
        let status = unsafe { (self.api.device_name)(name.as_mut_ptr().cast(), 255, ordinal) };
        if status != 0 {
            return Err(self.describe("hipDeviceGetName", status));
        }
        // SAFETY: the pointer is valid for the call.
        let status = unsafe { (self.api.device_total_memory)(&raw mut memory, ordinal) };
        if status != 0 {
            return Err(self.describe("hipDeviceTotalMem", status));
        }
        Ok(Info {
            ordinal,
            name: until(&name, |byte| byte == 0),
            architecture: self.architecture(ordinal)?,
            memory: memory as u64,
            multiprocessors: attribute(number::ATTRIBUTE_MULTIPROCESSORS)?,
            wave: attribute(number::ATTRIBUTE_WARP_SIZE)?,
            shared: attribute(number::ATTRIBUTE_LDS_PER_BLOCK)?,
        })
    }

    /// The name of the instruction set: from the properties of HIP 6 and later, else from the driver's own table. The
    /// structure of HIP 5 is another one and is never read.
    fn architecture(&self, ordinal: Ordinal) -> Result<String, String> {
        const NAME: usize = 1160;
        let Some(properties) = self.api.device_properties_r0600 else {
            return from_driver(ordinal).ok_or_else(|| "the chip's architecture is not known".to_owned());
        };
        // Larger than any known version of the structure (1472 bytes in HIP 6 and 7).
        let mut raw = [0u8; 4096];
        // SAFETY: the buffer is larger than the structure.
        match unsafe { properties(raw.as_mut_ptr().cast(), ordinal) } {
            0 => Ok(until(&raw[NAME..NAME + 256], |byte| byte == 0 || byte == b':')),
            status => Err(self.describe("hipGetDeviceProperties", status)),
        }
    }
}

/// The text before the first byte for which `ends` holds.
fn until(bytes: &[u8], ends: impl Fn(u8) -> bool) -> String {
    let text = bytes.split(|byte| ends(*byte)).next().unwrap_or_default();
    String::from_utf8_lossy(text).into_owned()
}

/// The architecture by the amdgpu driver: `gfx_target_version 110501` is gfx1151. Nodes without one are processors.
fn from_driver(ordinal: Ordinal) -> Option<String> {
    let nodes = std::fs::read_dir("/sys/class/kfd/kfd/topology/nodes").ok()?;
    let mut folders: Vec<_> = nodes.filter_map(|node| node.ok().map(|node| node.path())).collect();
    folders.sort_by_key(|folder| {
        folder.file_name().and_then(|name| name.to_string_lossy().parse::<u32>().ok()).unwrap_or(u32::MAX)
    });
    let version = |folder: &std::path::PathBuf| {
        let text = std::fs::read_to_string(folder.join("properties")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("gfx_target_version "))?;
        line.trim().parse::<u32>().ok().filter(|version| *version > 0)
    };
    let version = folders.iter().filter_map(version).nth(usize::try_from(ordinal).ok()?)?;
    Some(format!("gfx{}{:x}{:x}", version / 10_000, version / 100 % 100, version % 100))
}

/// What was done on a device since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Kernels launched one by one.
    pub launches: u64,
    /// Reads of the host that waited for the device, besides what comes back with a submission.
    pub reads: u64,
    /// Graphs launched.
    pub graphs: u64,
    /// Graphs that the runtime would not make, or that computed something else than their launches; these went on one by one.
    pub refused_graphs: u64,
    /// Writes of the host to memory that a copy in flight was still using. Counted in debug builds; every one is a fault.
    pub races: u64,
}

/// Counters in use.
#[derive(Default)]
pub(crate) struct Counts {
    pub launches: AtomicU64,
    pub reads: AtomicU64,
    pub graphs: AtomicU64,
    pub refused_graphs: AtomicU64,
    pub races: AtomicU64,
}

impl Counts {
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Counters {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            launches: get(&self.launches),
            reads: get(&self.reads),
            graphs: get(&self.graphs),
            refused_graphs: get(&self.refused_graphs),
            races: get(&self.races),
        }
    }
}

/// A device in use. The first failure of an asynchronous call loses it for good: everything on it fails from then on.
pub(crate) struct Device {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) info: Info,
    pub(crate) counts: Counts,
    lost: Mutex<Option<String>>,
}

impl Device {
    pub(crate) fn new(runtime: Arc<Runtime>, info: Info) -> Arc<Self> {
        Arc::new(Device { runtime, info, counts: Counts::default(), lost: Mutex::new(None) })
    }

    pub(crate) fn api(&self) -> &Api {
        &self.runtime.api
    }

    /// Makes it the device of this thread, on which the runtime's calls work.
    ///
    /// # Errors
    /// [`DeviceError::Lost`] if it was lost before.
    pub(crate) fn enter(&self) -> Result<(), DeviceError> {
        if let Some(reason) = self.lost.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            return Err(DeviceError::Lost { reason: reason.clone() });
        }
        // SAFETY: the ordinal is one that the runtime counted.
        self.check("hipSetDevice", unsafe { (self.api().set_device)(self.info.ordinal) })
    }

    /// Turns a status into an error that loses the device.
    pub(crate) fn check(&self, call: &str, status: Status) -> Result<(), DeviceError> {
        if status == 0 {
            return Ok(());
        }
        Err(self.lose(&self.runtime.describe(call, status)))
    }

    /// Gives the device up.
    pub(crate) fn lose(&self, reason: &str) -> DeviceError {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = lost.get_or_insert_with(|| reason.to_owned()).clone();
        DeviceError::Lost { reason }
    }
}
