//! The wgpu backend of weft: WGSL kernels on any GPU that Vulkan, Metal or DirectX 12 reaches.
//!
//! It offers each kernel of `weft-core` for every type and layout; where the device has more to give (subgroups, 16-bit
//! floats, cooperative matrices) faster variants stand first.

mod adapter;
mod cache;
mod gpu;
mod kernels;
mod launch;
mod memory;
mod pipelines;
mod profile;
mod program;
mod shader;
mod slots;

pub use adapter::{Bounds, Found, Options, adapters};
pub use gpu::Counters;
pub use pipelines::Progress;

use gpu::Gpu;
use kernels::implementations;
use memory::Memory;
use pipelines::Pipelines;
use program::{Setup, WgpuProgram};
use std::sync::Arc;
use weft_core::backend::{
    Backend, Buffer, Capabilities, CompileRequest, DeviceError, HostBytes, Offer, Program,
};
use weft_core::graph::Layout;
use weft_core::quant::planes::Rows;
use weft_core::self_test;

/// A GPU as a device.
pub struct Wgpu {
    name: String,
    capabilities: Capabilities,
    offers: Vec<Offer>,
    repack: bool,
    setup: Setup,
}

impl Wgpu {
    /// Opens an adapter and tests a few kernels.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`] if there is no such adapter or it lacks a limit, [`DeviceError::SelfTest`] if a kernel
    /// computes something else than its reference.
    pub fn open(options: &Options) -> Result<Self, DeviceError> {
        let opened = adapter::open(options)?;
        let (info, caps) = (opened.info, opened.caps);
        let pipelines = Pipelines::new(options, &opened.device, &info);
        let gpu = Arc::new(Gpu::new(opened.device, opened.queue, caps));
        if options.profile.is_some() && !caps.timestamps {
            tracing::warn!(device = info.name, "the device has no timestamps: launches are not timed");
        }
        let implementations = implementations(&caps);
        let mut features = Vec::new();
        if let Some((low, high)) = caps.subgroups {
            features.push(format!("subgroups of {low} to {high}"));
        }
        features.extend(caps.half.then(|| "16-bit floats".to_owned()));
        features.extend(caps.matrices.then(|| "cooperative matrices".to_owned()));
        let backend = Wgpu {
            name: options.name.clone(),
            capabilities: Capabilities {
                device: format!("{} ({:?}, {} {})", info.name, info.backend, info.driver, info.driver_info),
                memory: None,
                largest_buffer: Some(gpu.device.limits().max_buffer_size),
                features,
                prefers_device_sampling: true,
                missing: kernels::missing(&caps),
            },
            offers: implementations.iter().map(|i| i.offer).collect(),
            repack: options.repack,
            setup: Setup {
                gpu,
                memory: Memory::default(),
                pipelines,
                implementations,
                poison: options.poison,
                profile: options.profile.clone().filter(|_| caps.timestamps),
            },
        };
        backend.self_test()?;
        Ok(backend)
    }

    /// What was asked of the device so far.
    pub fn counters(&self) -> Counters {
        self.setup.gpu.counters()
    }

    /// Gives the device up, as if it had been lost: everything on it fails from now on. For tests of what follows.
    pub fn lose(&self) {
        self.setup.gpu.device.destroy();
        // Lets wgpu tell that the device is gone.
        let _ = self.setup.gpu.look();
    }
}

impl Backend for Wgpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn offers(&self) -> &[Offer] {
        &self.offers
    }

    fn allocate(&self, name: &str, bytes: u64) -> Result<Buffer, DeviceError> {
        Ok(memory::buffer(self.setup.memory.allocate(&self.setup.gpu, name, bytes, false)?, bytes))
    }

    fn import(&self, name: &str, bytes: HostBytes, layout: &Layout) -> Result<Buffer, DeviceError> {
        let host: &[u8] = (*bytes).as_ref();
        let rows = if self.repack { Rows::of(layout) } else { None };
        let region = self.setup.memory.import(&self.setup.gpu, name, host, rows)?;
        Ok(memory::buffer(region, host.len() as u64))
    }

    fn write(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        let region = memory::region(to)?;
        if region.rows.is_some() {
            return Err(DeviceError::ReadOnly { bytes: to.bytes });
        }
        memory::write(&self.setup.gpu, region, offset, bytes)
    }

    fn read(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        memory::read(&self.setup.gpu, memory::region(from)?, offset, into)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Box<dyn Program>, DeviceError> {
        Ok(Box::new(WgpuProgram::compile(&self.setup, request)?))
    }

    fn self_test(&self) -> Result<(), DeviceError> {
        self_test::run(self)
    }
}
