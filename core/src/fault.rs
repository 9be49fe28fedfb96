//! Faults that kernels report at run time: an index that only the data could show to be wrong.
//!
//! A kernel writes four words and goes on with what is safe: the dispatch's number plus one (0 is no fault), the port's
//! number, the index, and the limit that it exceeds. The first fault of a run wins.

use crate::backend::DeviceError;
use crate::kernels::KernelError;
use crate::plan::Plan;

/// What of a plan is kept to name a fault.
pub struct FaultNames {
    /// Per dispatch its kernel and the names of its ports.
    dispatches: Vec<(&'static str, Vec<&'static str>)>,
}

impl FaultNames {
    /// The names of a plan.
    pub fn of(plan: &Plan) -> Self {
        let names = |d: &crate::plan::Dispatch| {
            (d.kernel, d.bindings.iter().map(|b| b.map_or("", |b| b.port)).collect())
        };
        FaultNames { dispatches: plan.dispatches.iter().map(names).collect() }
    }

    /// The error that a kernel reported in these words, if one did.
    ///
    /// # Errors
    /// [`DeviceError::Kernel`] with the index; [`DeviceError::Lost`] if the words name no dispatch.
    pub fn check(&self, words: [u32; 4]) -> Result<(), DeviceError> {
        let Some(index) = (words[0] as usize).checked_sub(1) else { return Ok(()) };
        let Some((kernel, ports)) = self.dispatches.get(index) else {
            return Err(DeviceError::Lost { reason: format!("a fault names dispatch {index}") });
        };
        let port = ports.get(words[1] as usize).copied().unwrap_or("");
        let got = i64::from(words[2].cast_signed());
        let source = KernelError::Index { port, got, limit: u64::from(words[3]) };
        Err(DeviceError::Kernel { index, kernel, source })
    }
}
