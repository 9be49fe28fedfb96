//! Memory: where each storage lies on each device. Activations share an arena by lifetime.

use super::{DevicePart, Dispatch, Place, Transfer};
use crate::graph::{Graph, Owner, StorageId};

/// Every place in an arena or input block is a multiple of this many bytes.
pub const ALIGNMENT: u64 = 256;

/// The phases during which a storage's bytes matter on a device.
#[derive(Clone, Copy)]
struct Lifetime {
    storage: usize,
    first: u32,
    last: u32,
    bytes: u64,
}

/// Places for one device. `until_end` lists storages whose bytes the host reads after the run.
pub(super) fn place(
    graph: &Graph,
    name: &str,
    device: usize,
    dispatches: &[Dispatch],
    transfers: &[(u32, Transfer)],
    until_end: &[StorageId],
) -> DevicePart {
    let mut spans: Vec<Option<(u32, u32)>> = vec![None; graph.storages.len()];
    let mut touch = |storage: StorageId, phase: u32| {
        let span = spans[storage.index()].get_or_insert((phase, phase));
        *span = (span.0.min(phase), span.1.max(phase));
    };
    for dispatch in dispatches.iter().filter(|d| d.device == device) {
        dispatch.bindings.iter().flatten().for_each(|b| touch(b.tensor.storage, dispatch.phase));
    }
    for (phase, transfer) in transfers {
        if transfer.from == device || transfer.to == device {
            touch(transfer.storage, *phase);
        }
    }
    until_end.iter().for_each(|storage| touch(*storage, u32::MAX));
    let mut places = vec![None; graph.storages.len()];
    let mut input_bytes = 0;
    let mut lifetimes = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        let Some((first, last)) = *span else { continue };
        let storage = &graph.storages[index];
        match storage.owner {
            Owner::Weight | Owner::State => places[index] = Some(Place::Own),
            Owner::Input => {
                places[index] = Some(Place::Input(input_bytes));
                input_bytes += storage.bytes.next_multiple_of(ALIGNMENT);
            }
            Owner::Activation => {
                // At least one unit, so that two empty storages never share a place with a full one.
                let bytes = storage.bytes.next_multiple_of(ALIGNMENT).max(ALIGNMENT);
                lifetimes.push(Lifetime { storage: index, first, last, bytes });
            }
        }
    }
    let arena_bytes = pack(lifetimes, &mut places);
    DevicePart { name: name.to_owned(), arena_bytes, input_bytes, places }
}

/// Largest first, each at the lowest offset that no storage alive at the same time uses.
fn pack(mut lifetimes: Vec<Lifetime>, places: &mut [Option<Place>]) -> u64 {
    lifetimes.sort_by_key(|l| (std::cmp::Reverse(l.bytes), l.first, l.storage));
    let mut placed: Vec<(u64, Lifetime)> = Vec::with_capacity(lifetimes.len());
    let mut peak = 0;
    for life in lifetimes {
        let mut busy: Vec<(u64, u64)> = placed
            .iter()
            .filter(|(_, other)| other.first <= life.last && life.first <= other.last)
            .map(|(offset, other)| (*offset, offset + other.bytes))
            .collect();
        busy.sort_unstable();
        let mut offset = 0;
        for (start, end) in busy {
            if offset + life.bytes <= start {
                break;
            }
            offset = offset.max(end);
        }
        peak = peak.max(offset + life.bytes);
        places[life.storage] = Some(Place::Arena(offset));
        placed.push((offset, life));
    }
    peak
}
