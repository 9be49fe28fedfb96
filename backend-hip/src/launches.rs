//! The launches that dispatches make: for programs, and for those who look at a plan without a device.

use crate::kernels::{Build, Implementation, Launch, implementations};
use weft_core::backend::{DeviceError, Offer};
use weft_core::graph::{Graph, Layout, Owner, StorageId};
use weft_core::plan::{Binding, Plan};
use weft_core::quant::planes::Rows;

/// The launches of every dispatch of a device: index and launch, and the largest scratch memory wanted. `rows` tells how a
/// storage is repacked.
pub(crate) fn launches(
    implementations: &[Implementation],
    plan: &Plan,
    device: usize,
    rows: impl Fn(StorageId) -> Option<Rows>,
) -> Result<(Vec<(usize, Launch)>, u64), DeviceError> {
    let (mut all, mut most) = (Vec::new(), 0);
    for (index, dispatch) in plan.dispatches.iter().enumerate() {
        if dispatch.device != device {
            continue;
        }
        let kernel = dispatch.kernel;
        let failed = |reason: String| DeviceError::Dispatch { index, kernel, reason };
        let known =
            |i: &&Implementation| i.offer.contract.kernel == kernel && i.offer.variant == dispatch.variant;
        let implementation = implementations.iter().find(known);
        let implementation = implementation.ok_or_else(|| failed("no such variant".to_owned()))?;
        let of_binding = |binding: &Option<Binding>| rows(binding.as_ref()?.tensor.storage);
        let repacked: Vec<_> = dispatch.bindings.iter().map(of_binding).collect();
        let contract = implementation.offer.contract;
        let mut build = Build { dispatch, contract, repacked: &repacked, scratch: 0 };
        let launches = (implementation.variant.build)(&mut build).map_err(failed)?;
        most = most.max(build.scratch);
        let work = launches.into_iter().filter(|launch| launch.groups.iter().all(|n| *n > 0));
        all.extend(work.map(|launch| (index, launch)));
    }
    Ok((all, most))
}

/// What a device offers; of one kernel the preferred first.
pub fn offers() -> Vec<Offer> {
    implementations().iter().map(|i| i.offer).collect()
}

/// Entry points that the dispatches of a plan launch on its device of this index, in order, each with the index of its
/// dispatch; weights repacked as they are by default.
///
/// # Errors
/// [`DeviceError::Dispatch`] names a dispatch that no device of this backend takes.
pub fn entry_points(plan: &Plan, device: usize) -> Result<Vec<(usize, String)>, DeviceError> {
    let rows = |storage| weight(&plan.graph, storage).as_ref().and_then(Rows::of);
    let (all, _) = launches(&implementations(), plan, device, rows)?;
    Ok(all.into_iter().map(|(index, launch)| (index, launch.function)).collect())
}

/// The layout of all of a weight.
fn weight(graph: &Graph, storage: StorageId) -> Option<Layout> {
    let known = graph.storage(storage);
    let whole = graph.tensors.iter().filter(|t| t.storage == storage && t.layout.bytes() == known.bytes);
    whole.map(|t| t.layout).find(|layout| known.owner == Owner::Weight && layout.is_packed())
}
