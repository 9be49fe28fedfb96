//! Adapters: which there are, which to take, and what a device of one is asked for.

use std::sync::{Arc, LazyLock};
use weft_core::backend::DeviceError;
use weft_core::profile::Profile;
use wgpu::{Adapter, AdapterInfo, DeviceType, Features, Instance, InstanceDescriptor, Limits};

/// How to open a device.
#[derive(Clone)]
pub struct Options {
    /// Name under which plans list the device.
    pub name: String,
    /// Part of an adapter's name, or its index in [`adapters`]; `None` takes the first that is not software.
    pub adapter: Option<String>,
    /// Repack quantised weights when they are imported.
    pub repack: bool,
    /// Upper bounds on what the device is used for; tests lower them.
    pub bounds: Bounds,
    /// Keep the bounds checks of the shader compiler. For tests.
    pub checked: bool,
    /// Fill the arena and scratch memory with NaN before each submission. For tests.
    pub poison: bool,
    /// Where the times of launches go, if they are to be timed and the device can. Slows the whole down.
    pub profile: Option<Arc<Profile>>,
    /// Folder in which compiled pipelines are kept between runs, where the driver supports it.
    pub cache: Option<std::path::PathBuf>,
    /// Folder to which each shader's text is written before it is compiled, for other validators.
    pub dump: Option<std::path::PathBuf>,
    /// Is told of shaders that are compiled.
    pub progress: Option<crate::Progress>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            name: "wgpu".to_owned(),
            adapter: None,
            repack: true,
            bounds: Bounds::default(),
            checked: false,
            poison: false,
            profile: None,
            cache: None,
            dump: None,
            progress: None,
        }
    }
}

/// Upper bounds on what is used of an adapter.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Bytes of one binding.
    pub binding: u64,
    /// Storage buffers of one kernel.
    pub buffers: u32,
    /// Invocations of one workgroup.
    pub invocations: u32,
    /// Use subgroup operations.
    pub subgroups: bool,
    /// Use 16-bit floats in arithmetic.
    pub half: bool,
    /// Use cooperative matrices.
    pub matrices: bool,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            binding: u64::MAX,
            buffers: u32::MAX,
            invocations: 1024,
            subgroups: true,
            half: true,
            matrices: true,
        }
    }
}

/// What kernels may rely on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caps {
    /// Smallest and largest width of a subgroup, where subgroup operations may be used.
    pub subgroups: Option<(u32, u32)>,
    pub half: bool,
    /// Whether 16 × 16 × 16 matrices of halves with f32 sums may be used.
    pub matrices: bool,
    pub binding: u64,
    pub buffers: u32,
    pub invocations: u32,
    pub workgroup_bytes: u32,
    pub timestamps: bool,
}

/// An adapter, for reports.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its index in the list.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Driver and version.
    pub driver: String,
    /// Whether it is a program on the CPU.
    pub software: bool,
    /// Limits and features, by name.
    pub detail: Vec<(String, String)>,
}

/// Interfaces through which adapters are looked for.
const BACKENDS: wgpu::Backends =
    wgpu::Backends::VULKAN.union(wgpu::Backends::METAL).union(wgpu::Backends::DX12);

/// The one instance of this process, never dropped. Dropping the last unloads the drivers' libraries, while threads
/// that used them still have destructors in there to run: on NVIDIA's, a thread that ended later died in `libEGL`.
static INSTANCE: LazyLock<Instance> = LazyLock::new(|| {
    let mut descriptor = InstanceDescriptor::new_without_display_handle();
    descriptor.backends = BACKENDS;
    Instance::new(descriptor)
});

fn all() -> Vec<Adapter> {
    pollster::block_on(INSTANCE.enumerate_adapters(BACKENDS))
}

fn is_software(info: &AdapterInfo) -> bool {
    info.device_type == DeviceType::Cpu
}

/// Every adapter of this machine.
pub fn adapters() -> Vec<Found> {
    all().iter().enumerate().map(|(index, adapter)| found(index, adapter)).collect()
}

fn found(index: usize, adapter: &Adapter) -> Found {
    let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
    let yes = |wanted: Features| if features.contains(wanted) { "yes" } else { "no" }.to_owned();
    let subgroups = if features.contains(Features::SUBGROUP) {
        format!("{} to {}", info.subgroup_min_size, info.subgroup_max_size)
    } else {
        "no".to_owned()
    };
    let detail = [
        ("api", format!("{:?}", info.backend)),
        ("kind", format!("{:?}", info.device_type)),
        ("subgroups", subgroups),
        ("16-bit floats", yes(Features::SHADER_F16)),
        ("cooperative matrices", if usable_matrices(adapter) { "16x16x16" } else { "no" }.to_owned()),
        ("timestamps", yes(Features::TIMESTAMP_QUERY)),
        ("pipeline cache", yes(Features::PIPELINE_CACHE)),
        ("largest buffer", limits.max_buffer_size.to_string()),
        ("largest binding", limits.max_storage_buffer_binding_size.to_string()),
        ("storage buffers a kernel", limits.max_storage_buffers_per_shader_stage.to_string()),
        ("invocations a workgroup", limits.max_compute_invocations_per_workgroup.to_string()),
        ("workgroup memory", limits.max_compute_workgroup_storage_size.to_string()),
    ];
    Found {
        index,
        name: info.name.clone(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        software: is_software(&info),
        detail: detail.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}

fn usable_matrices(adapter: &Adapter) -> bool {
    use wgpu::CooperativeScalarType::{F16, F32};
    // A subgroup may have 32 or 64 invocations on AMD, and which cannot be chosen: wrong results were reported there.
    let info = adapter.get_info();
    adapter.features().contains(Features::EXPERIMENTAL_COOPERATIVE_MATRIX)
        && adapter.features().contains(Features::SHADER_F16)
        && info.subgroup_min_size == info.subgroup_max_size
        && adapter
            .cooperative_matrix_properties()
            .iter()
            .any(|p| (p.m_size, p.n_size, p.k_size) == (16, 16, 16) && p.ab_type == F16 && p.cr_type == F32)
}

/// An adapter by the options.
fn choose(options: &Options) -> Result<Adapter, DeviceError> {
    let missing = |reason: String| DeviceError::Unavailable { name: options.name.clone(), reason };
    let mut adapters = all();
    let names: Vec<String> = adapters.iter().map(|a| format!("`{}`", a.get_info().name)).collect();
    let list = if names.is_empty() { "no adapter".to_owned() } else { names.join(", ") };
    let at = match &options.adapter {
        None => adapters.iter().position(|a| !is_software(&a.get_info())),
        Some(text) => match text.parse::<usize>() {
            Ok(index) => (index < adapters.len()).then_some(index),
            Err(_) => {
                let wanted = text.to_lowercase();
                adapters.iter().position(|a| a.get_info().name.to_lowercase().contains(&wanted))
            }
        },
    };
    match (at, &options.adapter) {
        (Some(at), _) => Ok(adapters.swap_remove(at)),
        (None, Some(text)) => Err(missing(format!("no adapter is called `{text}`; there is {list}"))),
        (None, None) => Err(missing(format!("no GPU was found; there is {list}"))),
    }
}

/// What opening gives.
pub(crate) struct Opened {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub info: AdapterInfo,
    pub caps: Caps,
}

/// The least that every kernel of the fallback set needs.
const LEAST_BUFFERS: u32 = 8;
const LEAST_INVOCATIONS: u32 = 256;
const LEAST_WORKGROUP_BYTES: u32 = 16_384;

/// Opens a device.
pub(crate) fn open(options: &Options) -> Result<Opened, DeviceError> {
    let adapter = choose(options)?;
    let (info, bounds, limits) = (adapter.get_info(), &options.bounds, adapter.limits());
    let missing = |reason: String| DeviceError::Unavailable {
        name: format!("{} ({})", options.name, info.name),
        reason,
    };
    let least = [
        (
            "storage buffers a kernel",
            limits.max_storage_buffers_per_shader_stage.min(bounds.buffers),
            LEAST_BUFFERS,
        ),
        (
            "invocations a workgroup",
            limits.max_compute_invocations_per_workgroup.min(bounds.invocations),
            LEAST_INVOCATIONS,
        ),
        ("bytes of workgroup memory", limits.max_compute_workgroup_storage_size, LEAST_WORKGROUP_BYTES),
    ];
    if let Some((what, got, want)) = least.into_iter().find(|(_, got, want)| got < want) {
        return Err(missing(format!("it has {got} {what}, {want} are needed")));
    }
    let optional = Features::SUBGROUP
        | Features::SUBGROUP_BARRIER
        | Features::SHADER_F16
        | Features::TIMESTAMP_QUERY
        | Features::PIPELINE_CACHE;
    let matrices = bounds.matrices && bounds.half && usable_matrices(&adapter);
    let mut features = adapter.features() & optional;
    if matrices {
        features |= Features::EXPERIMENTAL_COOPERATIVE_MATRIX;
    }
    let binding = limits.max_storage_buffer_binding_size.min(bounds.binding) & !255;
    let required = Limits { max_storage_buffer_binding_size: binding, ..limits.clone() };
    let experimental = if matrices {
        // SAFETY: cooperative matrices are used only through shaders of this crate, which its tests run.
        unsafe { wgpu::ExperimentalFeatures::enabled() }
    } else {
        wgpu::ExperimentalFeatures::disabled()
    };
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("weft"),
        required_features: features,
        required_limits: required,
        experimental_features: experimental,
        memory_hints: wgpu::MemoryHints::Performance,
        ..wgpu::DeviceDescriptor::default()
    };
    let (device, queue) =
        pollster::block_on(adapter.request_device(&descriptor)).map_err(|e| missing(e.to_string()))?;
    let subgroups = (bounds.subgroups && features.contains(Features::SUBGROUP))
        .then_some((info.subgroup_min_size, info.subgroup_max_size));
    let caps = Caps {
        subgroups,
        half: bounds.half && features.contains(Features::SHADER_F16),
        matrices: matrices && subgroups.is_some(),
        binding,
        buffers: limits.max_storage_buffers_per_shader_stage.min(bounds.buffers),
        invocations: limits.max_compute_invocations_per_workgroup.min(bounds.invocations),
        workgroup_bytes: limits.max_compute_workgroup_storage_size,
        timestamps: features.contains(Features::TIMESTAMP_QUERY),
    };
    Ok(Opened { device, queue, info, caps })
}
