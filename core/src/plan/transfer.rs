//! Splits, and the copies at their borders.
//!
//! At the end of a split, what it wrote is copied to every device that touches the storage later, and states also to the
//! first device, their home. So at each border every device that still cares holds the newest bytes, and no copy can
//! overwrite something newer.

use super::{Dispatch, Split, Transfer};
use crate::graph::{Graph, Owner, StorageId};

/// Splits, and what is copied after the last.
pub(super) struct Borders {
    pub splits: Vec<Split>,
    pub last: Vec<Transfer>,
    pub output_devices: Vec<usize>,
}

/// Cuts ordered dispatches where the device changes.
pub(super) fn borders(graph: &Graph, dispatches: &[Dispatch]) -> Borders {
    let mut splits: Vec<Split> = Vec::new();
    for (index, dispatch) in dispatches.iter().enumerate() {
        match splits.last_mut() {
            Some(split) if split.device == dispatch.device => split.end = index + 1,
            _ => splits.push(Split {
                device: dispatch.device,
                first: index,
                end: index + 1,
                copies: Vec::new(),
            }),
        }
    }
    let touched = touches(graph, &splits, dispatches);
    let output_devices = graph
        .outputs
        .iter()
        .map(|(_, t)| last_writer(dispatches, graph.tensor(*t).storage))
        .collect::<Vec<_>>();
    let mut copies: Vec<Vec<Transfer>> = vec![Vec::new(); splits.len() + 1];
    // States begin at home.
    for (storage, splits_of) in touched.iter().enumerate() {
        let id = StorageId(storage as u32);
        if graph.storages[storage].owner == Owner::State {
            let mut away: Vec<usize> =
                splits_of.iter().map(|s| splits[*s].device).filter(|d| *d != 0).collect();
            away.sort_unstable();
            away.dedup();
            copies[0].extend(away.into_iter().filter_map(|to| whole(graph, id, 0, to)));
        }
    }
    for (index, split) in splits.iter().enumerate() {
        for binding in dispatches[split.first..split.end].iter().flat_map(|d| d.bindings.iter().flatten()) {
            if !binding.access.writes() {
                continue;
            }
            let storage = binding.tensor.storage;
            let mut to: Vec<usize> =
                touched[storage.index()].iter().filter(|s| **s > index).map(|s| splits[*s].device).collect();
            if graph.storage(storage).owner == Owner::State {
                to.push(0);
            }
            to.extend(
                graph
                    .outputs
                    .iter()
                    .zip(&output_devices)
                    .filter(|((_, t), _)| graph.tensor(*t).storage == storage)
                    .map(|(_, d)| *d),
            );
            to.sort_unstable();
            to.dedup();
            for to in to.into_iter().filter(|to| *to != split.device) {
                let transfer = Transfer { storage, layout: binding.tensor.layout, from: split.device, to };
                if !copies[index + 1].contains(&transfer) {
                    copies[index + 1].push(transfer);
                }
            }
        }
    }
    let last = copies.pop().unwrap_or_default();
    splits.iter_mut().zip(copies).for_each(|(split, copies)| split.copies = copies);
    Borders { splits, last, output_devices }
}

/// Per storage the splits that touch it.
fn touches(graph: &Graph, splits: &[Split], dispatches: &[Dispatch]) -> Vec<Vec<usize>> {
    let mut touched = vec![Vec::new(); graph.storages.len()];
    for (index, split) in splits.iter().enumerate() {
        for binding in dispatches[split.first..split.end].iter().flat_map(|d| d.bindings.iter().flatten()) {
            let list: &mut Vec<usize> = &mut touched[binding.tensor.storage.index()];
            if list.last() != Some(&index) {
                list.push(index);
            }
        }
    }
    touched
}

fn last_writer(dispatches: &[Dispatch], storage: StorageId) -> usize {
    let writes =
        |d: &&Dispatch| d.bindings.iter().flatten().any(|b| b.access.writes() && b.tensor.storage == storage);
    dispatches.iter().rev().find(writes).map_or(0, |d| d.device)
}

fn whole(graph: &Graph, storage: StorageId, from: usize, to: usize) -> Option<Transfer> {
    let bytes = graph.storage(storage).bytes;
    let layout = crate::graph::Layout::packed(crate::graph::DType::I8, [bytes, 1, 1, 1])?;
    Some(Transfer { storage, layout, from, to })
}
