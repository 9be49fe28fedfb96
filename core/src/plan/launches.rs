//! What devices that make launches of dispatches derive from a plan: parts to submit, what comes back, what is timed.
//!
//! `indices` holds the dispatch of each launch of one device, in order; a dispatch may make several.

use super::{Binding, Dispatch, Plan, Split};
use crate::backend::DeviceError;
use crate::graph::{StorageId, Tensor};
use std::ops::Range;

impl Dispatch {
    /// Where each port's storage lies, by `places` of all storages; none for a port that is not bound.
    ///
    /// # Errors
    /// [`DeviceError::NoBuffer`] names a storage without a place.
    pub fn places<P: Clone>(&self, places: &[Option<P>]) -> Result<Vec<Option<P>>, DeviceError> {
        let place = |storage: StorageId| places.get(storage.index()).cloned().flatten();
        let of = |binding: &Option<Binding>| {
            let Some(binding) = binding else { return Ok(None) };
            let storage = binding.tensor.storage;
            place(storage).map(Some).ok_or(DeviceError::NoBuffer { storage })
        };
        self.bindings.iter().map(of).collect()
    }
}

impl Plan {
    /// The device and the dispatch that write a tensor, if one does and its bytes are still there at the end.
    pub fn writer(&self, tensor: &Tensor) -> Option<(usize, usize)> {
        let mut found = None;
        for (index, dispatch) in self.dispatches.iter().enumerate() {
            for binding in dispatch.bindings.iter().flatten().filter(|b| b.access.writes()) {
                let other = binding.tensor;
                if other.storage != tensor.storage {
                    continue;
                }
                if other.version == tensor.version {
                    found = Some((dispatch.device, index));
                } else if other.version > tensor.version && other.layout.overlaps(&tensor.layout) {
                    return None;
                }
            }
        }
        found
    }

    /// The same up to a dispatch, which and all behind it are left out; what it reads can be read once this has run.
    pub fn before(&self, dispatch: usize) -> Plan {
        let mut plan = self.clone();
        plan.dispatches.truncate(dispatch);
        plan.splits.retain_mut(|split| {
            split.end = split.end.min(dispatch);
            split.first < split.end
        });
        plan.last_copies.clear();
        plan
    }

    /// Per split of the plan its launches on a device, cut where more than `most` floating-point operations would run
    /// without a break; empty for splits of other devices.
    pub fn parts(&self, device: usize, indices: &[usize], most: u64) -> Vec<Vec<Range<usize>>> {
        let of_split = |split: &Split| {
            if split.device != device {
                return Vec::new();
            }
            let first = indices.partition_point(|index| *index < split.first);
            let end = indices.partition_point(|index| *index < split.end);
            let (mut parts, mut start, mut flops) = (Vec::new(), first, 0);
            for (at, index) in indices.iter().enumerate().take(end).skip(first) {
                flops += self.dispatches[*index].cost.flops;
                if flops > most && at + 1 < end {
                    parts.push(start..at + 1);
                    (start, flops) = (at + 1, 0);
                }
            }
            parts.push(start..end);
            parts
        };
        self.splits.iter().map(of_split).collect()
    }

    /// Storages of outputs that a device ends with, small enough to come back with the submission: `most` bytes in all.
    /// `places` holds by storage where it lies, `bytes` tells how long that is.
    pub fn small_outputs<P: Clone>(
        &self,
        device: usize,
        places: &[Option<P>],
        bytes: impl Fn(&P) -> u64,
        most: u64,
    ) -> Vec<(StorageId, P)> {
        let mut all: Vec<(StorageId, P)> = Vec::new();
        for ((_, tensor), of) in self.graph.outputs.iter().zip(&self.output_devices) {
            let storage = self.graph.tensor(*tensor).storage;
            let place = places.get(storage.index()).and_then(Option::as_ref);
            let Some(place) = place.filter(|_| *of == device) else { continue };
            let size = bytes(place);
            if size <= most && size > 0 && all.iter().all(|(s, _)| *s != storage) {
                all.push((storage, place.clone()));
            }
        }
        let mut total = 0;
        all.retain(|(_, place)| {
            total += bytes(place);
            total <= most
        });
        all
    }
}
