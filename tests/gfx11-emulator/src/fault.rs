//! Why something was refused or stopped.

use std::fmt;

/// A code object that cannot be loaded.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    #[error("not an AMDGPU code object")]
    NotAnObject,
    #[error("a code object for another chip: flags {flags:#x}, gfx1151 has 0x4a in the low byte")]
    OtherChip { flags: u32 },
    #[error("malformed code object: {what}")]
    Malformed { what: String },
    #[error("relocation of type {kind} is not known")]
    Relocation { kind: u32 },
    #[error("{tool}: {reason}; install llvm-19")]
    Disassembler { tool: String, reason: String },
    #[error("kernel {kernel} sets a mode of arithmetic that is not modelled: {what}")]
    Mode { kernel: String, what: &'static str },
}

/// A kernel that cannot be launched, found before any of it runs.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    #[error("no kernel {name}")]
    Absent { name: String },
    #[error("kernel {kernel}, address {address:#x}: not known to the emulator: {text}")]
    Unknown { kernel: String, address: u64, text: String },
}

/// Which memory an access was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Device,
    Lds,
    Scratch,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Device => "device memory",
            Space::Lds => "LDS",
            Space::Scratch => "scratch",
        })
    }
}

/// What a kernel did wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    #[error("lane {lane}: {bytes} bytes at {address:#x} are outside {space}: {nearest}")]
    OutOfBounds { space: Space, lane: usize, address: u64, bytes: usize, nearest: String },
    #[error(
        "lane {lane}: {bytes} bytes at {address:#x} were freed: allocation of {size} bytes at {start:#x}"
    )]
    UseAfterFree { lane: usize, address: u64, bytes: usize, start: u64, size: u64 },
    #[error("lane {lane}: {address:#x} is host memory, which kernels may not touch")]
    HostMemory { lane: usize, address: u64 },
    #[error("lane {lane}: write to {address:#x}, which is read-only")]
    ReadOnly { lane: usize, address: u64 },
    #[error("lane {lane}: {address:#x} is not a multiple of {alignment}")]
    Misaligned { lane: usize, address: u64, alignment: usize },
    #[error("an undefined value decides {used}")]
    Undefined { used: &'static str },
    #[error("lane {lane} stores the result of arithmetic on undefined values to {space}, {address:#x}")]
    UndefinedStore { space: Space, lane: usize, address: u64 },
    #[error("waves {first} and {second} touch LDS byte {at} between two barriers, and one of them writes")]
    LdsRace { at: usize, first: u32, second: u32 },
    #[error(
        "workgroups {first} and {second} touch {address:#x} in one launch without an atomic between, and one of them writes"
    )]
    GlobalRace { address: u64, first: u32, second: u32 },
    #[error("{ended} of {waves} waves ended, the others wait at a barrier")]
    BarrierLeft { ended: usize, waves: usize },
    #[error("barrier reached with lanes masked off: {exec:#010x}")]
    BarrierMasked { exec: u32 },
    #[error("WMMA operand in v{register} is not repeated in lanes 16..31")]
    NotRepeated { register: usize },
    #[error("WMMA with lanes masked off: {exec:#010x}")]
    LanesMaskedOff { exec: u32 },
    #[error("not known to the emulator")]
    Unknown,
    #[error("jump to {address:#x}, where no instruction is")]
    BadJump { address: u64 },
    #[error("still running after {steps} instructions of one wave")]
    Endless { steps: u64 },
    #[error("{what}: {asked} asked for, {granted} at most")]
    Limit { what: &'static str, asked: usize, granted: usize },
}

/// Where and why a launch was stopped.
#[derive(Clone, Debug)]
pub struct Fault {
    pub kernel: String,
    pub kind: FaultKind,
    /// Address inside the code object, and the instruction there. Absent when nothing ran.
    pub at: Option<(u64, String)>,
    pub workgroup: [u32; 3],
    pub wave: u32,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}: {}", self.kernel, self.kind)?;
        if let Some((address, text)) = &self.at {
            let [x, y, z] = self.workgroup;
            write!(f, " [workgroup {x},{y},{z} wave {} at {address:#x}: {text}]", self.wave)?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}
