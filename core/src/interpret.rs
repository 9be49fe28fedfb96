//! A plan run by the reference kernels, on bytes of the host: what devices are tested against.

use crate::kernels::{self, Call, KernelError, Place};
use crate::plan::Plan;
use std::cell::Cell;

/// Runs every dispatch of a plan in order by its kernel's reference. `storages` holds the bytes of each storage of the
/// graph, weights and inputs filled; results are left in it. Devices and splits play no part.
///
/// # Errors
/// The kernel that refused its data. A kernel that has no reference is an unbound port of that name.
pub fn interpret(plan: &Plan, storages: &mut [Vec<u8>]) -> Result<(), KernelError> {
    let cells: Vec<&[Cell<u8>]> =
        storages.iter_mut().map(|bytes| Cell::from_mut(bytes.as_mut_slice()).as_slice_of_cells()).collect();
    for dispatch in &plan.dispatches {
        let missing = KernelError::Unbound { port: dispatch.kernel };
        let kernel = kernels::by_stem(dispatch.kernel).ok_or_else(|| missing.clone())?;
        let mut places: Vec<Option<Place<'_>>> = Vec::with_capacity(dispatch.bindings.len());
        for binding in &dispatch.bindings {
            places.push(match binding {
                None => None,
                Some(binding) => {
                    let bytes = cells.get(binding.tensor.storage.index()).ok_or_else(|| missing.clone())?;
                    Some((binding.tensor.layout, *bytes))
                }
            });
        }
        (kernel.reference)(&Call::new(&kernel.contract, &places, &dispatch.constants)?)?;
    }
    Ok(())
}
