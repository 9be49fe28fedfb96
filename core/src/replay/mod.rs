//! Graphs run alone, once: on data that is given or seeded, and two runs compared.

mod difference;
mod random;

pub use difference::Difference;
pub use random::Random;

use crate::backend::{Backend, DeviceError, HostBytes};
use crate::driver::Options;
use crate::graph::{DType, Graph, Layout, Owner, Storage, StorageId};
use crate::interpret::interpret;
use crate::plan::{Place, Plan};
use crate::quant;
use crate::run::{Buffers, RunError, Runner};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Bytes of weights, states and inputs by storage name.
pub type Data = BTreeMap<String, Vec<u8>>;

/// What a run left behind.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Outputs by name, packed.
    pub outputs: BTreeMap<String, Vec<u8>>,
    /// States by name, whole.
    pub states: BTreeMap<String, Vec<u8>>,
    /// What was run.
    pub plan: Arc<Plan>,
}

/// How weights come to a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loading {
    /// By [`Backend::import`], which may lay them out anew, as when a model is loaded.
    Imported,
    /// Byte for byte.
    Plain,
}

/// Random values of a type, between −1 and 1, packed; indices are 0.
///
/// # Errors
/// The type cannot be encoded, or the values are no whole number of blocks.
pub fn random(dtype: DType, values: u64, random: &mut Random) -> Result<Vec<u8>, RunError> {
    let refused = || RunError::NoValues { dtype };
    let bytes = dtype.row_bytes(values).ok_or_else(refused)? as usize;
    let mut out = vec![0; bytes];
    if !matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64) {
        let floats: Vec<f32> = (0..values).map(|_| random.unit()).collect();
        (quant::block_type(dtype).ok_or_else(refused)?.encode)(&floats, &mut out);
    }
    Ok(out)
}

/// Seeded data for every storage that a graph takes from outside, unless `data` has it already. Types come from the
/// first tensor on the storage; one without a tensor is zero.
///
/// # Errors
/// [`RunError::NoValues`].
pub fn fill(graph: &Graph, data: &mut Data, seed: u64) -> Result<(), RunError> {
    for (index, storage) in graph.storages.iter().enumerate() {
        if storage.owner == Owner::Activation || data.contains_key(&storage.name) {
            continue;
        }
        let made = match first_layout(graph, StorageId(index as u32)) {
            None => vec![0; storage.bytes as usize],
            Some(Layout { dtype, .. }) => {
                let values = storage.bytes / dtype.block_bytes() * dtype.block_values();
                let mut made = random(dtype, values, &mut Random::named(&storage.name, seed))?;
                made.resize(storage.bytes as usize, 0);
                made
            }
        };
        data.insert(storage.name.clone(), made);
    }
    Ok(())
}

/// Bytes that a run of a graph needs on the host at least: its storages, its outputs, and once more its largest tensor. A
/// tensor that shows few bytes many times counts as often as it shows them.
pub fn memory(graph: &Graph) -> u64 {
    let storages = graph.storages.iter().map(|storage| storage.bytes);
    let outputs = graph.outputs.iter().map(|(_, tensor)| graph.tensor(*tensor).layout.bytes());
    let largest = graph.tensors.iter().map(|tensor| tensor.layout.bytes()).max();
    storages.chain(outputs).chain(largest).fold(0, u64::saturating_add)
}

/// The layout of the first tensor on a storage.
pub fn first_layout(graph: &Graph, storage: StorageId) -> Option<Layout> {
    graph.tensors.iter().find(|t| t.storage == storage).map(|t| t.layout)
}

/// The bytes of a storage.
fn given<'d>(data: &'d Data, storage: &Storage) -> Result<&'d Vec<u8>, RunError> {
    let bytes = data.get(&storage.name).ok_or_else(|| RunError::NoInput { name: storage.name.clone() })?;
    if bytes.len() as u64 == storage.bytes {
        return Ok(bytes);
    }
    Err(RunError::Size { name: storage.name.clone(), got: bytes.len(), want: storage.bytes })
}

/// Storages of an owner.
fn owned(graph: &Graph, owner: Owner) -> impl Iterator<Item = (StorageId, &Storage)> {
    let all = graph.storages.iter().enumerate().map(|(index, storage)| (StorageId(index as u32), storage));
    all.filter(move |(_, storage)| storage.owner == owner)
}

/// Plans, compiles and runs a graph once.
///
/// # Errors
/// `data` lacks a storage or has it in another size; as the runner's.
pub fn run(
    graph: &Arc<Graph>,
    backends: &[Arc<dyn Backend>],
    options: &Options,
    data: &Data,
    loading: Loading,
) -> Result<Outcome, RunError> {
    for owner in [Owner::Weight, Owner::State, Owner::Input] {
        owned(graph, owner).try_for_each(|(_, storage)| given(data, storage).map(|_| ()))?;
    }
    let mut kept: Buffers = vec![HashMap::new(); backends.len()];
    let mut runner = Runner::prepare(graph, backends, options, |plan| {
        load(plan, backends, data, loading, &mut kept)?;
        Ok(kept.clone())
    })?;
    once(&mut runner, backends, &kept, data)
}

/// Runs a prepared program once, and reads its outputs and the states on the first device, of which `buffers` are the buffers
/// that the runner was made with.
///
/// # Errors
/// `data` lacks an input or has it in another size; as the runner's.
pub fn once(
    runner: &mut Runner,
    backends: &[Arc<dyn Backend>],
    buffers: &Buffers,
    data: &Data,
) -> Result<Outcome, RunError> {
    let plan = Arc::clone(runner.plan());
    let graph = &plan.graph;
    let mut inputs = Vec::new();
    for (id, storage) in owned(graph, Owner::Input) {
        inputs.push((id, given(data, storage)?.as_slice()));
    }
    let tickets = runner.run(&inputs, None)?;
    let mut outputs = BTreeMap::new();
    for (name, tensor) in &graph.outputs {
        let mut into = vec![0; graph.tensor(*tensor).layout.bytes() as usize];
        runner.output(&tickets, name, &mut into)?;
        outputs.insert(name.clone(), into);
    }
    // States are at home on the first device.
    let mut states = BTreeMap::new();
    if let (Some(home), Some(buffers)) = (backends.first(), buffers.first()) {
        for (id, storage) in owned(graph, Owner::State) {
            let Some(buffer) = buffers.get(&id) else { continue };
            let mut into = vec![0; storage.bytes as usize];
            home.read(buffer, 0, &mut into)?;
            states.insert(storage.name.clone(), into);
        }
    }
    Ok(Outcome { outputs, states, plan })
}

/// Buffers of the weights and states that a plan needs, made once.
fn load(
    plan: &Plan,
    backends: &[Arc<dyn Backend>],
    data: &Data,
    loading: Loading,
    kept: &mut Buffers,
) -> Result<(), DeviceError> {
    for (device, part) in plan.devices.iter().enumerate() {
        for (index, place) in part.places.iter().enumerate() {
            let (id, storage) = (StorageId(index as u32), &plan.graph.storages[index]);
            // The home of a state exists even if the first device does not touch it.
            let home = device == 0 && storage.owner == Owner::State;
            if (*place != Some(Place::Own) && !home) || kept[device].contains_key(&id) {
                continue;
            }
            let bytes = data.get(&storage.name).ok_or(DeviceError::NoBuffer { storage: id })?;
            let whole = first_layout(&plan.graph, id)
                .filter(|layout| layout.is_packed() && layout.offset == 0 && layout.bytes() == storage.bytes);
            let buffer = match whole {
                Some(layout) if storage.owner == Owner::Weight && loading == Loading::Imported => {
                    let host: HostBytes = Arc::new(bytes.clone());
                    backends[device].import(&storage.name, host, &layout)?
                }
                _ => {
                    let buffer = backends[device].allocate(&storage.name, storage.bytes)?;
                    backends[device].write(&buffer, 0, bytes)?;
                    buffer
                }
            };
            kept[device].insert(id, buffer);
        }
    }
    Ok(())
}

/// Runs a plan by the references of its kernels. Activations start as NaN.
///
/// # Errors
/// `data` lacks a storage or has it in another size; a kernel refused its data.
pub fn interpreted(plan: Arc<Plan>, data: &Data) -> Result<Outcome, RunError> {
    let graph = Arc::clone(&plan.graph);
    let mut storages = Vec::with_capacity(graph.storages.len());
    for storage in &graph.storages {
        storages.push(match storage.owner {
            Owner::Activation => vec![0xff; storage.bytes as usize],
            _ => given(data, storage)?.clone(),
        });
    }
    interpret(&plan, &mut storages)?;
    let mut outputs = BTreeMap::new();
    for (name, tensor) in &graph.outputs {
        let tensor = graph.tensor(*tensor);
        let bytes = &storages[tensor.storage.index()];
        let mut packed = Vec::with_capacity(tensor.layout.bytes() as usize);
        tensor.layout.in_order(|offset, count| {
            packed.extend_from_slice(&bytes[offset as usize..offset as usize + count]);
        });
        outputs.insert(name.clone(), packed);
    }
    let states = owned(&graph, Owner::State);
    let states = states.map(|(id, storage)| (storage.name.clone(), storages[id.index()].clone())).collect();
    Ok(Outcome { outputs, states, plan })
}
