//! The HIP runtime and its run-time compiler as tables of functions, found when a device is asked for. The only part that
//! knows their C interface; `device`, `memory`, `stream` and `module` make it safe.

#[cfg(all(test, feature = "hip-sys"))]
mod agreement;
mod api;
mod library;

pub(crate) use api::{Api, Compiler};
pub use library::LoadError;
pub(crate) use library::{open_compiler, open_runtime};

use std::ffi::{c_int, c_void};

/// `hipError_t` and `hiprtcResult`.
pub(crate) type Status = c_int;
/// `hipDevice_t`.
pub(crate) type Ordinal = c_int;
/// `hipDeviceptr_t`, `hipStream_t`, `hipEvent_t`, `hipModule_t`, `hipFunction_t`, `hipGraph_t`, `hipGraphExec_t`.
pub(crate) type Handle = *mut c_void;

/// Numbers that are the same in HIP 5.4 to 7.14.
pub(crate) mod number {
    use super::{Status, c_int};
    pub(crate) const OUT_OF_MEMORY: Status = 2;
    pub(crate) const NO_DEVICE: Status = 100;
    pub(crate) const NO_BINARY_FOR_GPU: Status = 209;
    pub(crate) const NOT_READY: Status = 600;
    pub(crate) const ATTRIBUTE_MULTIPROCESSORS: c_int = 63;
    pub(crate) const ATTRIBUTE_WARP_SIZE: c_int = 87;
    pub(crate) const ATTRIBUTE_LDS_PER_BLOCK: c_int = 74;
    pub(crate) const STREAM_NON_BLOCKING: u32 = 1;
    pub(crate) const COPY_TO_DEVICE: c_int = 1;
    pub(crate) const COPY_TO_HOST: c_int = 2;
    pub(crate) const CAPTURE_OF_THREAD: c_int = 1;
}
