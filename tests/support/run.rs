//! Graphs run on seeded data.

use crate::Random;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use weft_core::backend::{Backend, Buffer, DeviceError};
use weft_core::driver::Options;
use weft_core::graph::{DType, Graph, Owner, Storage, StorageId};
use weft_core::plan::{Place, Plan};
use weft_core::quant;
use weft_core::run::{RunError, Runner};

/// Bytes of weights, states and inputs by storage name.
pub type Data = BTreeMap<String, Vec<u8>>;

/// What a run gave: outputs and states by name, as bytes, and the plan.
#[derive(Debug)]
pub struct Outcome {
    pub outputs: BTreeMap<String, Vec<u8>>,
    pub states: BTreeMap<String, Vec<u8>>,
    pub plan: Arc<Plan>,
}

impl Outcome {
    /// An f32 output.
    pub fn output(&self, name: &str) -> Vec<f32> {
        floats(&self.outputs[name])
    }

    /// An f32 state.
    pub fn state(&self, name: &str) -> Vec<f32> {
        floats(&self.states[name])
    }
}

/// Bytes as f32.
pub fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

/// f32 as bytes.
pub fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// i32 as bytes.
pub fn int_bytes(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Random values of a type, between −1 and 1, packed.
pub fn random(dtype: DType, values: u64, random: &mut Random) -> Vec<u8> {
    let floats: Vec<f32> = (0..values).map(|_| random.unit()).collect();
    match dtype {
        DType::I32 => int_bytes(&vec![0; values as usize]),
        DType::I64 => vec![0; values as usize * 8],
        _ => {
            let mut out = vec![0; dtype.row_bytes(values).expect("whole blocks") as usize];
            (quant::block_type(dtype).expect("a codec").encode)(&floats, &mut out);
            out
        }
    }
}

/// Seeded data for every storage that a graph takes from outside, unless `data` has it already. Types come from the
/// first tensor on the storage.
pub fn fill(graph: &Graph, data: &mut Data, seed: u64) {
    for (index, storage) in graph.storages.iter().enumerate() {
        if storage.owner == Owner::Activation || data.contains_key(&storage.name) {
            continue;
        }
        let first = graph.tensors.iter().find(|t| t.storage == StorageId(index as u32)).expect("a tensor");
        let dtype = first.dtype();
        let values = storage.bytes / dtype.block_bytes() * dtype.block_values();
        let made = random(dtype, values, &mut Random::named(&storage.name, seed));
        data.insert(storage.name.clone(), made);
    }
}

/// Plans, compiles and runs a graph once.
///
/// # Errors
/// As the runner's.
pub fn run(
    graph: &Arc<Graph>,
    backends: &[Arc<dyn Backend>],
    options: &Options,
    data: &Data,
) -> Result<Outcome, RunError> {
    let mut kept: Vec<HashMap<String, (Buffer, Storage)>> = vec![HashMap::new(); backends.len()];
    let mut runner =
        Runner::prepare(graph, backends, options, |plan| buffers(plan, backends, data, &mut kept))?;
    let plan = Arc::clone(runner.plan());
    let inputs: Vec<(StorageId, &[u8])> = graph
        .storages
        .iter()
        .enumerate()
        .filter(|(_, s)| s.owner == Owner::Input)
        .map(|(i, s)| (StorageId(i as u32), data[&s.name].as_slice()))
        .collect();
    let tickets = runner.run(&inputs, None)?;
    let mut outputs = BTreeMap::new();
    for (name, tensor) in &graph.outputs {
        let mut into = vec![0; graph.tensor(*tensor).layout.bytes() as usize];
        runner.output(&tickets, name, &mut into)?;
        outputs.insert(name.clone(), into);
    }
    let mut states = BTreeMap::new();
    // States are at home on the first device.
    for (name, (buffer, storage)) in kept.iter().rev().flatten() {
        if storage.owner == Owner::State {
            let device = kept.iter().position(|k| k.contains_key(name)).expect("a home");
            let mut into = vec![0; storage.bytes as usize];
            backends[device].read(&kept[device][name].0, 0, &mut into)?;
            let _ = buffer;
            states.insert(name.clone(), into);
        }
    }
    Ok(Outcome { outputs, states, plan })
}

fn buffers(
    plan: &Plan,
    backends: &[Arc<dyn Backend>],
    data: &Data,
    kept: &mut [HashMap<String, (Buffer, Storage)>],
) -> Result<Vec<HashMap<StorageId, Buffer>>, DeviceError> {
    let mut all = Vec::new();
    for (device, part) in plan.devices.iter().enumerate() {
        let mut buffers = HashMap::new();
        for (index, place) in part.places.iter().enumerate() {
            let storage = &plan.graph.storages[index];
            // The home of a state exists even if the first device does not touch it.
            let home = device == 0 && storage.owner == Owner::State;
            if *place != Some(Place::Own) && !home {
                continue;
            }
            if !kept[device].contains_key(&storage.name) {
                let buffer = backends[device].allocate(&storage.name, storage.bytes)?;
                backends[device].write(&buffer, 0, &data[&storage.name])?;
                kept[device].insert(storage.name.clone(), (buffer, storage.clone()));
            }
            buffers.insert(StorageId(index as u32), kept[device][&storage.name].0.clone());
        }
        all.push(buffers);
    }
    Ok(all)
}
