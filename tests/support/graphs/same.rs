//! Whether two runs of a graph left the same behind.

use crate::compare;
use crate::naive::Left;
use crate::run::{Outcome, floats};
use std::collections::BTreeMap;
use weft_core::contract::Tolerance;
use weft_core::graph::{DType, Graph, StorageId};
use weft_core::kernels;
use weft_core::plan::Plan;

/// Outputs and states by name.
pub struct Bytes<'a> {
    pub outputs: &'a BTreeMap<String, Vec<u8>>,
    pub states: &'a BTreeMap<String, Vec<u8>>,
}

impl<'a> From<&'a Outcome> for Bytes<'a> {
    fn from(outcome: &'a Outcome) -> Self {
        Bytes { outputs: &outcome.outputs, states: &outcome.states }
    }
}

impl<'a> From<&'a Left> for Bytes<'a> {
    fn from(left: &'a Left) -> Self {
        Bytes { outputs: &left.outputs, states: &left.states }
    }
}

/// What the contracts of a plan's kernels allow at most: errors of a chain add up.
pub fn tolerance(plan: &Plan) -> Tolerance {
    let mut sum = Tolerance::EXACT;
    for dispatch in &plan.dispatches {
        let Some(kernel) = kernels::by_stem(dispatch.kernel) else { continue };
        sum.nmse_row += kernel.contract.tolerance.nmse_row;
        sum.max_abs += kernel.contract.tolerance.max_abs;
    }
    sum
}

fn as_floats(dtype: DType, bytes: &[u8]) -> Vec<f32> {
    match dtype {
        DType::F16 => {
            bytes.as_chunks::<2>().0.iter().map(|b| half::f16::from_le_bytes(*b).to_f32()).collect()
        }
        _ => floats(bytes),
    }
}

/// Compares outputs, and states but for bytes that hold the same NaN on both sides.
///
/// # Errors
/// The first tensor that differs, in words.
pub fn check<'a, 'b>(
    graph: &Graph,
    got: impl Into<Bytes<'a>>,
    want: impl Into<Bytes<'b>>,
    tolerance: Tolerance,
) -> Result<(), String> {
    let (got, want) = (got.into(), want.into());
    for (name, want) in want.outputs {
        let tensor = graph.tensor(graph.output(name).ok_or_else(|| format!("no output {name}"))?);
        let got = got.outputs.get(name).ok_or_else(|| format!("output {name} is missing"))?;
        bytes(tensor.dtype(), tensor.shape()[0], got, want, tolerance)
            .map_err(|e| format!("output {name}: {e}"))?;
    }
    for (name, want) in want.states {
        let storage = graph.storage_named(name).ok_or_else(|| format!("no state {name}"))?;
        let Some(first) = graph.tensors.iter().find(|t| t.storage == storage) else { continue };
        let got = got.states.get(name).ok_or_else(|| format!("state {name} is missing"))?;
        let (got, want) = without_shared_nan(got, want);
        bytes(first.dtype(), first.shape()[0], &got, &want, tolerance)
            .map_err(|e| format!("state {name}: {e}"))?;
    }
    Ok(())
}

fn bytes(dtype: DType, width: u64, got: &[u8], want: &[u8], tolerance: Tolerance) -> Result<(), String> {
    if got == want && dtype != DType::F32 {
        return Ok(());
    }
    match dtype {
        DType::F32 | DType::F16 => {
            // A value that two ways of rounding meet may fall to either half-precision neighbour.
            let coarse = Tolerance { nmse_row: 1e-6, max_abs: 1.0 / 1024.0 };
            let tolerance =
                if dtype == DType::F16 && tolerance != Tolerance::EXACT { coarse } else { tolerance };
            let (got, want) = (as_floats(dtype, got), as_floats(dtype, want));
            compare::rows(&got, &want, width as usize, tolerance).map_err(|d| format!("{d:?}"))
        }
        _ => Err("other integers".to_owned()),
    }
}

/// Both sides with zeros where both hold the same NaN: bytes that nobody touched.
fn without_shared_nan(got: &[u8], want: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut got, mut want) = (got.to_vec(), want.to_vec());
    for (a, b) in got.chunks_exact_mut(4).zip(want.chunks_exact_mut(4)) {
        if a == b && f32::from_le_bytes([a[0], a[1], a[2], a[3]]).is_nan() {
            a.fill(0);
            b.fill(0);
        }
    }
    (got, want)
}

/// The storages that hold states.
pub fn states(graph: &Graph) -> Vec<String> {
    use weft_core::graph::Owner;
    let named = |(index, _): &(usize, &weft_core::graph::Storage)| {
        graph.storage(StorageId(*index as u32)).owner == Owner::State
    };
    graph.storages.iter().enumerate().filter(named).map(|(_, s)| s.name.clone()).collect()
}
