//! Launches with functions and arguments made.

use crate::arguments::{self, Shared};
use crate::ffi::Status;
use crate::kernels::Launch;
use crate::memory::Region;
use crate::module::Function;
use crate::program::Setup;
use crate::stream::Stream;
use weft_core::backend::DeviceError;
use weft_core::plan::Plan;

/// One launch, ready to be submitted.
pub(crate) struct Ready {
    function: Function,
    groups: [u32; 3],
    threads: u32,
    /// The argument structure.
    arguments: Vec<u64>,
}

impl Ready {
    /// Starts it.
    pub(crate) fn launch(&mut self, stream: &Stream) -> Result<(), DeviceError> {
        stream.launch(&self.function, self.groups, self.threads, &mut self.arguments)
    }

    /// Puts it into a stream that records.
    pub(crate) fn put(&mut self, recorder: &Stream) -> Status {
        recorder.put(&self.function, self.groups, self.threads, &mut self.arguments)
    }
}

/// Functions and arguments of launches.
pub(crate) fn ready(
    setup: &Setup,
    plan: &Plan,
    planned: &[(usize, Launch)],
    places: &[Option<Region>],
    shared: Shared,
) -> Result<Vec<Ready>, DeviceError> {
    let stem = |index: usize, launch: &Launch| launch.stem.unwrap_or(plan.dispatches[index].kernel);
    setup.code.load(planned.iter().map(|(index, launch)| (stem(*index, launch), launch.function.as_str())));
    let mut all = Vec::with_capacity(planned.len());
    for (index, launch) in planned {
        let dispatch = &plan.dispatches[*index];
        let failed =
            |reason: String| DeviceError::Dispatch { index: *index, kernel: dispatch.kernel, reason };
        let regions = dispatch.places(places)?;
        let function = setup.code.function(stem(*index, launch), &launch.function).map_err(failed)?;
        let arguments = arguments::block(dispatch, *index, launch, &regions, shared).map_err(failed)?;
        all.push(Ready { function, groups: launch.groups, threads: launch.threads, arguments });
    }
    Ok(all)
}
