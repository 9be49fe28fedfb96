//! A graph run by itself on given bytes: what a reproducer is, and what finds who is to blame.

use crate::backend::{Backend, Buffer, DeviceError, Offer};
use crate::driver::{Offered, Options};
use crate::graph::{Graph, Layout, Owner, StorageId, Tensor, TensorId};
use crate::interpret::interpret;
use crate::kernels;
use crate::plan::{self, Place, Plan};
use crate::run::{RunError, Runner};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Bytes of weights, states and inputs, by name.
pub type Bytes = BTreeMap<String, Arc<Vec<u8>>>;

/// What a run left behind.
#[derive(Debug)]
pub struct Left {
    /// How it ran.
    pub plan: Arc<Plan>,
    /// Tensors that dispatches wrote and nothing wrote over, packed: with [`Options::keep_values`] all of them, else the
    /// graph's outputs.
    pub tensors: HashMap<TensorId, Vec<u8>>,
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
}

/// Runs a graph once on devices.
///
/// # Errors
/// Bytes are missing or of another size; no plan covers the graph; a device failed.
pub fn on(
    backends: &[Arc<dyn Backend>],
    graph: &Arc<Graph>,
    bytes: &Bytes,
    options: &Options,
) -> Result<Left, RunError> {
    check(graph, bytes)?;
    let mut runner = Runner::prepare(graph, backends, options, |plan| buffers(plan, backends, bytes))?;
    let plan = Arc::clone(runner.plan());
    let inputs = graph.storages.iter().enumerate().filter(|(_, s)| s.owner == Owner::Input);
    let inputs: Vec<(StorageId, &[u8])> =
        inputs.map(|(index, s)| (StorageId(index as u32), bytes[&s.name].as_slice())).collect();
    let tickets = runner.run(&inputs, None)?;
    let mut tensors = HashMap::new();
    for (id, device) in wanted(&plan, options) {
        let tensor = graph.tensor(id);
        let mut into = vec![0; tensor.layout.bytes() as usize];
        runner.tensor(&tickets, device, id, &mut into, "a result")?;
        tensors.insert(id, into);
    }
    Ok(Left { plan, tensors })
}

/// Runs a graph once by the reference kernels, node by node.
///
/// # Errors
/// As [`on`].
pub fn by_reference(graph: &Arc<Graph>, bytes: &Bytes) -> Result<Left, RunError> {
    check(graph, bytes)?;
    let offers: Vec<Offer> = kernels::ALL
        .iter()
        .map(|kernel| Offer { contract: &kernel.contract, variant: "reference", exact: true })
        .collect();
    let options =
        Options { exact: true, disabled: vec!["*".to_owned()], keep_values: true, ..Options::default() };
    let offered = [Offered { name: "reference", offers: &offers }];
    let plan = Arc::new(plan::build(Arc::clone(graph), &offered, &options)?);
    let start = |storage: &crate::graph::Storage| {
        bytes.get(&storage.name).map_or_else(|| vec![0; storage.bytes as usize], |bytes| bytes.to_vec())
    };
    let mut storages: Vec<Vec<u8>> = graph.storages.iter().map(start).collect();
    interpret(&plan, &mut storages).map_err(|source| DeviceError::Kernel {
        index: 0,
        kernel: "reference",
        source,
    })?;
    let tensors = wanted(&plan, &options).into_iter().map(|(id, _)| {
        let tensor = graph.tensor(id);
        (id, packed(&storages[tensor.storage.index()], &tensor.layout))
    });
    let tensors = tensors.collect();
    Ok(Left { plan, tensors })
}

/// Tensors that can be read after a run, with the device that holds them.
fn wanted(plan: &Plan, options: &Options) -> Vec<(TensorId, usize)> {
    let graph = &plan.graph;
    let results = graph.node_ids().flat_map(|node| graph.writes(node).collect::<Vec<_>>());
    let results: Vec<TensorId> = if options.keep_values {
        results.collect()
    } else {
        graph.outputs.iter().map(|(_, tensor)| *tensor).collect()
    };
    let held = |id: TensorId| plan.writer(graph.tensor(id)).map(|(device, _)| (id, device));
    results.into_iter().filter_map(held).collect()
}

/// A tensor's bytes in packed order.
pub fn packed(storage: &[u8], layout: &Layout) -> Vec<u8> {
    let mut out = Vec::with_capacity(layout.bytes() as usize);
    layout.in_order(|offset, bytes| out.extend_from_slice(&storage[offset as usize..][..bytes]));
    out
}

fn check(graph: &Graph, bytes: &Bytes) -> Result<(), RunError> {
    for storage in graph.storages.iter().filter(|s| s.owner != Owner::Activation) {
        let name = || storage.name.clone();
        let given = bytes.get(&storage.name).ok_or_else(|| RunError::NoBytes { name: name() })?;
        if given.len() as u64 != storage.bytes {
            return Err(RunError::Size { name: name(), got: given.len(), want: storage.bytes });
        }
    }
    Ok(())
}

/// Buffers of weights and states with their bytes.
fn buffers(
    plan: &Plan,
    backends: &[Arc<dyn Backend>],
    bytes: &Bytes,
) -> Result<crate::run::Buffers, DeviceError> {
    let graph = &plan.graph;
    let mut all = Vec::with_capacity(plan.devices.len());
    for (part, backend) in plan.devices.iter().zip(backends) {
        let mut buffers: HashMap<StorageId, Buffer> = HashMap::new();
        for (index, _) in part.places.iter().enumerate().filter(|(_, place)| **place == Some(Place::Own)) {
            let id = StorageId(index as u32);
            let storage = graph.storage(id);
            let given = Arc::clone(&bytes[&storage.name]);
            // A weight is given as its first tensor lays it out, for backends that keep another order.
            let whole = graph.tensors.iter().find(|t| t.storage == id && t.layout.bytes() == storage.bytes);
            let buffer = match whole.filter(|_| storage.owner == Owner::Weight) {
                Some(tensor) => backend.import(&storage.name, Arc::new(Shared(given)), &tensor.layout)?,
                None => {
                    let buffer = backend.allocate(&storage.name, storage.bytes)?;
                    backend.write(&buffer, 0, &given)?;
                    buffer
                }
            };
            buffers.insert(id, buffer);
        }
        all.push(buffers);
    }
    Ok(all)
}

/// Bytes that several runs share.
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
