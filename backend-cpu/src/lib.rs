//! The CPU backend of weft: vector kernels chosen at run time, a team of threads, and the home of every node that no
//! other device takes.
//!
//! It offers each kernel of `weft-core` that is not absent here: where a tuned version admits the operands that one, else the
//! reference.

mod job;
mod kernels;
mod memory;
mod poison;
mod profile;
mod program;
mod selftest;
pub mod simd;
mod team;
mod view;

use memory::Memory;
use program::{CpuProgram, Setup, memory as memory_of};
use simd::{Level, Simd};
use std::sync::Arc;
use team::Team;
use weft_core::backend::{
    Backend, Buffer, Capabilities, CompileRequest, DeviceError, HostBytes, Offer, Program,
};
use weft_core::graph::Layout;
use weft_core::profile::Profile;

/// The backend's name in contracts.
const NAME: &str = "cpu";

/// How to open the CPU.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads; 0 takes one per available processor.
    pub threads: usize,
    /// The widest instructions to use.
    pub level: Level,
    /// Fill outputs with NaN before each dispatch. For tests.
    pub poison: bool,
    /// Name under which plans list the device.
    pub name: String,
    /// Offer the reference kernels only, those that are absent here among them. For tests.
    pub references_only: bool,
    /// Offer the references of kernels that are absent here, too. For tests.
    pub absent: bool,
    /// Run no kernel at all: what remains is the overhead of the host. For measurements.
    pub idle: bool,
    /// Where the times of launches go, if they are to be timed.
    pub profile: Option<Arc<Profile>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: 0,
            level: Level::Avx512Vnni,
            poison: false,
            name: NAME.to_owned(),
            references_only: false,
            absent: false,
            idle: false,
            profile: None,
        }
    }
}

/// The CPU as a device.
pub struct Cpu {
    name: String,
    capabilities: Capabilities,
    offers: Vec<Offer>,
    setup: Setup,
}

impl Cpu {
    /// Opens the CPU: finds its instructions, starts its threads, and tests a few kernels.
    ///
    /// # Errors
    /// [`DeviceError::Unavailable`] if threads cannot be started, [`DeviceError::SelfTest`] if a kernel is wrong.
    pub fn open(options: &Options) -> Result<Self, DeviceError> {
        let found = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if options.threads == 0 { found } else { options.threads.min(1024) };
        let simd = Simd::at_most(options.level);
        let implementations =
            kernels::implementations(options.references_only, options.references_only || options.absent);
        let cpu = Cpu {
            name: options.name.clone(),
            capabilities: Capabilities {
                device: format!("CPU, {threads} threads, {:?}", simd.level()),
                memory: memory::available(),
                largest_buffer: None,
                features: vec![format!("{:?}", simd.level())],
                prefers_device_sampling: false,
                missing: Vec::new(),
            },
            offers: implementations.iter().map(|i| i.offer).collect(),
            setup: Setup {
                simd,
                team: Arc::new(Team::new(threads)?),
                implementations: Arc::new(implementations),
                poison: options.poison,
                idle: options.idle,
                profile: options.profile.clone(),
            },
        };
        cpu.self_test()?;
        Ok(cpu)
    }
}

fn buffer(memory: Memory, bytes: u64) -> Buffer {
    Buffer { bytes, handle: Arc::new(Arc::new(memory)) }
}

fn known(buffer: &Buffer) -> Result<&Arc<Memory>, DeviceError> {
    let lost = || DeviceError::Lost { reason: "the buffer belongs to another backend".to_owned() };
    memory_of(buffer).ok_or_else(lost)
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn free_memory(&self) -> Option<u64> {
        memory::available()
    }

    fn offers(&self) -> &[Offer] {
        &self.offers
    }

    fn allocate(&self, name: &str, bytes: u64) -> Result<Buffer, DeviceError> {
        if let Some(left) = memory::available().filter(|left| bytes > *left) {
            return Err(DeviceError::OutOfMemory {
                what: name.to_owned(),
                asked: bytes,
                granted: Some(left),
            });
        }
        Ok(buffer(Memory::zeroed(name, bytes)?, bytes))
    }

    fn import(&self, name: &str, bytes: HostBytes, _: &Layout) -> Result<Buffer, DeviceError> {
        let host: &[u8] = (*bytes).as_ref();
        let length = host.len() as u64;
        // Files align tensors; a block of bytes from elsewhere may not be.
        if !host.as_ptr().addr().is_multiple_of(8) {
            let copy = Memory::zeroed(name, length)?;
            copy.write(0, host)?;
            return Ok(buffer(copy, length));
        }
        Ok(buffer(Memory::host(bytes), length))
    }

    fn write(&self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        known(to)?.write(offset, bytes)
    }

    fn read(&self, from: &Buffer, offset: u64, into: &mut [u8]) -> Result<(), DeviceError> {
        known(from)?.read(offset, into)
    }

    fn compile(&self, request: &CompileRequest<'_>) -> Result<Box<dyn Program>, DeviceError> {
        Ok(Box::new(CpuProgram::compile(&self.setup, request)?))
    }

    fn self_test(&self) -> Result<(), DeviceError> {
        selftest::run(self.setup.simd)
    }
}
