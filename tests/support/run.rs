//! Graphs run on seeded data.

use crate::Random;
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::driver::Options;
use weft_core::graph::{DType, Graph};
use weft_core::plan::Plan;
use weft_core::replay::{self, Loading};
use weft_core::run::RunError;

pub use weft_core::replay::Data;

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
    let replay::Outcome { outputs, states, plan } =
        replay::run(graph, backends, options, data, Loading::Plain)?;
    Ok(Outcome { outputs, states, plan })
}
