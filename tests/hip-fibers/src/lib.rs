//! A library that an engine opens as `libamdhip64.so` and that runs kernels on the CPU, for tests. Its run-time compiler is
//! the host's C++ compiler; each GPU thread is a fiber with a stack of its own, and barriers and cross-lane operations are
//! where fibers stop and others go on.
//!
//! What it sees: wrong results of the algorithm; a barrier that not every thread reaches; a cross-lane operation that not
//! every lane of the wave reaches; reads of memory that nothing has written (memory and workgroup memory start as NaN); a
//! missing barrier, by running lanes and waves backwards; and with sanitizers every access outside of a block of memory.
//!
//! | environment | |
//! |---|---|
//! | `HIP_FIBERS_ORDER` | `forward` (as if not set) or `reverse`: the order in which waves of a block and lanes of a wave run |
//! | `HIP_FIBERS_SANITIZE` | `1`: address and undefined-behaviour sanitizers; the process must have preloaded the runtime of clang's address sanitizer |
//! | `HIP_FIBERS_CACHE` | the folder of compiled kernels; else one in the folder of temporary files |
//! | `HIP_FIBERS_THREADS` | most CPU threads that blocks of a launch are spread over |
//! | `HIP_FIBERS_CXX` | the compiler; else clang++-19, clang++ or g++ |
//! | `HIP_STAND_IN_LAZY` | `1`: work runs as late as it may |
//! | `HIP_STAND_IN_GRAPHS` | `refused` or `short`: graphs are not made, or leave their last work undone |

mod block;
mod compile;
mod fault;
mod fiber;
mod launch;
mod module;
mod schedule;
mod stacks;

pub use hip_stand_in as api;

use hip_stand_in::{Machine, Module, Refusal};
use std::ffi::CStr;

struct Fibers;

impl Machine for Fibers {
    fn name(&self) -> &'static CStr {
        c"CPU fibers"
    }

    fn architecture(&self) -> &'static CStr {
        c"fibers"
    }

    fn load(&self, image: &[u8]) -> Result<Box<dyn Module>, Refusal> {
        module::load(image)
    }

    fn compile(&self, name: &str, text: &str, _options: &[String]) -> Result<Vec<u8>, String> {
        // Options of the GPU's compiler mean nothing here: fast-math would hide what the sanitizers look for.
        compile::compile(name, text)
    }

    fn compiler_version(&self) -> i32 {
        compile::version()
    }
}

#[unsafe(no_mangle)]
fn hip_machine() -> &'static dyn Machine {
    &Fibers
}
