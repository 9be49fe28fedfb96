//! Graphs run on seeded data.

use crate::Random;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use weft_core::backend::{Backend, Buffer};
use weft_core::driver::Options;
use weft_core::graph::{DType, Graph, Owner, Storage, StorageId};
use weft_core::plan::Plan;
use weft_core::replay::{self, Loading};
use weft_core::run::{Buffers, RunError, Runner};

pub use weft_core::replay::Data;

/// What a run gave: outputs and states by name, as bytes, and the plan.
#[derive(Debug)]
pub struct Outcome {
    pub outputs: BTreeMap<String, Vec<u8>>,
    pub states: BTreeMap<String, Vec<u8>>,
    pub plan: Arc<Plan>,
}

impl From<replay::Outcome> for Outcome {
    fn from(replay::Outcome { outputs, states, plan }: replay::Outcome) -> Self {
        Outcome { outputs, states, plan }
    }
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
    replay::random(dtype, values, random).expect("a codec, and whole blocks")
}

/// Seeded data for every storage that a graph takes from outside, unless `data` has it already.
pub fn fill(graph: &Graph, data: &mut Data, seed: u64) {
    replay::fill(graph, data, seed).expect("types with a codec");
}

/// Plans, compiles and runs a graph once, weights byte for byte.
///
/// # Errors
/// As the runner's.
pub fn run(
    graph: &Arc<Graph>,
    backends: &[Arc<dyn Backend>],
    options: &Options,
    data: &Data,
) -> Result<Outcome, RunError> {
    Ok(replay::run(graph, backends, options, data, Loading::Plain)?.into())
}

/// Compiles and runs a plan once as it is, weights byte for byte. Away from the first device states hold NaN until somebody
/// brings them.
///
/// # Errors
/// As the runner's.
pub fn planned(plan: Plan, backends: &[Arc<dyn Backend>], data: &Data) -> Result<Outcome, RunError> {
    let graph = Arc::clone(&plan.graph);
    let all = graph.storages.iter().enumerate().map(|(at, storage)| (StorageId(at as u32), storage));
    let owned = all.filter(|(_, storage)| matches!(storage.owner, Owner::Weight | Owner::State));
    let mut buffers: Buffers = Vec::new();
    for (device, backend) in backends.iter().enumerate() {
        let load = |(id, storage): (StorageId, &Storage)| {
            let buffer = backend.allocate(&storage.name, storage.bytes)?;
            let away = device > 0 && storage.owner == Owner::State;
            let unknown = vec![0xff; storage.bytes as usize];
            backend.write(&buffer, 0, if away { &unknown } else { &data[&storage.name] })?;
            Ok((id, buffer))
        };
        let loaded: Result<HashMap<StorageId, Buffer>, RunError> = owned.clone().map(load).collect();
        buffers.push(loaded?);
    }
    let mut runner = Runner::of(plan, backends, &buffers)?;
    Ok(replay::once(&mut runner, backends, &buffers, data)?.into())
}
