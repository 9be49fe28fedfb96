//! A library that an engine opens as `libamdhip64.so` and that hands each call to NVIDIA's driver or to nvrtc, for tests of
//! whole models at full size and speed on a GPU that is at hand. It shows nothing of AMD's machine code, memory or speed.
//!
//! It reports `sm_90` and the like as architecture and answers an object for AMD's chips with 209, so that an engine compiles
//! its texts. `CUresult` equals `hipError_t` for every error that an engine meets, and `nvrtcResult` equals `hiprtcResult`:
//! nothing is translated. Failures are told on stderr with the name of the driver's function.
//!
//! `HIPSHIM_NVRTC` names the file of libnvrtc, beside which its builtins lie; else the system's is used. No header is needed.
//! With those of CUDA 12.9 and 13.0 the attention on matrix units gives wrong results from right PTX, at every optimisation but
//! `-O0`; that of 13.5 is right. The shim says so when it opens an older one.
//! `HIPSHIM_OPTIONS` adds options of nvrtc, such as `-lineinfo` for compute-sanitizer.

mod compiler;
mod device;
mod driver;
mod graph;
mod memory;
mod module;
mod stream;

pub use compiler::*;
pub use device::*;
pub use graph::*;
pub use memory::*;
pub use module::*;
pub use stream::*;

/// `hipError_t` and `hiprtcResult`.
pub type Status = std::ffi::c_int;
/// Every handle of the interface, and addresses on the device.
pub type Handle = *mut std::ffi::c_void;
