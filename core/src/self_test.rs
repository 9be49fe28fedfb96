//! A small graph against the reference kernels, before any weight is uploaded: some drivers claim features and compute
//! garbage.

use crate::backend::{Backend, CompileRequest, DeviceError};
use crate::driver::{Offered, Options};
use crate::graph::{DType, Graph, GraphBuilder, GraphError, Layout, Op, Owner, StorageId, UnaryKind};
use crate::interpret::interpret;
use crate::plan;
use crate::quant;
use std::collections::HashMap;
use std::sync::Arc;

const WIDTH: u64 = 256;
const ROWS: u64 = 64;

/// Largest error relative to the largest value: in f32, and with 8-bit or 16-bit products.
const EXACT: f32 = 1e-4;
const FAST: f32 = 5e-2;

/// Tests products of both kinds of activations, norms, a function and a softmax, on few tokens and on many.
///
/// # Errors
/// [`DeviceError::SelfTest`] with the first value that differs; any other if the graph cannot be run at all.
pub fn run(backend: &dyn Backend) -> Result<(), DeviceError> {
    for tokens in [1, 24] {
        let failed = |reason: String| wrong("self-test", "a graph".to_owned(), reason);
        let graph = Arc::new(graph(tokens).map_err(|e| failed(e.to_string()))?);
        for exact in [true, false] {
            compare(backend, &graph, exact)?;
        }
    }
    Ok(())
}

fn wrong(what: &'static str, expected: String, got: String) -> DeviceError {
    DeviceError::SelfTest { what, expected, got }
}

fn graph(tokens: u64) -> Result<Graph, GraphError> {
    let mut g = GraphBuilder::new();
    let x = g.input("x", DType::F32, &[WIDTH, tokens])?;
    let scale = g.weight("scale", DType::F32, &[WIDTH])?;
    let first = g.weight("first", DType::Q8_0, &[WIDTH, WIDTH])?;
    let second = g.weight("second", DType::Q4_K, &[WIDTH, ROWS])?;
    let normed = g.rms_norm(x, scale, 1e-6)?;
    let mixed = g.mul_mat(first, normed)?;
    let gate = g.unary(UnaryKind::Silu, mixed)?;
    let product = g.mul_mat(second, gate)?;
    // Products reach hundreds: unscaled, errors of eight bits would grow in the exponent.
    let share = g.op(Op::Softmax { scale: 1.0 / 256.0 }, &[product])?;
    g.output("product", product)?;
    g.output("share", share)?;
    g.finish()
}

/// Bytes of a storage: smooth numbers, encoded.
fn data(graph: &Graph, storage: usize) -> Vec<u8> {
    let bytes = graph.storages[storage].bytes as usize;
    let mut out = vec![0; bytes];
    let first = graph.tensors.iter().find(|t| t.storage.index() == storage);
    let block = first.and_then(|t| quant::block_type(t.dtype()));
    if let (Some(block), false) = (block, graph.storages[storage].owner == Owner::Activation) {
        let count = bytes as u64 / block.dtype.block_bytes() * block.dtype.block_values();
        let values: Vec<f32> =
            (0..count).map(|i| ((i * 37 + i / 256 * 11) % 64) as f32 / 32.0 - 0.98).collect();
        (block.encode)(&values, &mut out);
    }
    out
}

fn compare(backend: &dyn Backend, graph: &Arc<Graph>, exact: bool) -> Result<(), DeviceError> {
    let offered = [Offered { name: backend.name(), offers: backend.offers() }];
    let options = Options { exact, ..Options::default() };
    let plan = plan::build(Arc::clone(graph), &offered, &options)
        .map_err(|e| wrong("self-test", "a plan".to_owned(), e.to_string()))?;
    let mut storages: Vec<Vec<u8>> = (0..graph.storages.len()).map(|at| data(graph, at)).collect();
    let mut buffers = HashMap::new();
    for (at, storage) in graph.storages.iter().enumerate().filter(|(_, s)| s.owner == Owner::Weight) {
        let tensor = graph.tensors.iter().find(|t| t.storage.index() == at);
        let layout: Layout =
            tensor.map(|t| t.layout).ok_or(DeviceError::NoBuffer { storage: StorageId(at as u32) })?;
        let buffer = backend.import(&storage.name, Arc::new(storages[at].clone()), &layout)?;
        buffers.insert(StorageId(at as u32), buffer);
    }
    let mut program = backend.compile(&CompileRequest { plan: &plan, device: 0, buffers: &buffers })?;
    let inputs: Vec<(StorageId, &[u8])> = (0..graph.storages.len())
        .filter(|at| graph.storages[*at].owner == Owner::Input)
        .map(|at| (StorageId(at as u32), storages[at].as_slice()))
        .collect();
    let ticket = program.begin(&inputs)?;
    program.submit(ticket, 0, None)?;
    let mut got = Vec::new();
    for (_, tensor) in &graph.outputs {
        let tensor = graph.tensor(*tensor);
        let mut into = vec![0; tensor.layout.bytes() as usize];
        program.read(ticket, tensor.storage, tensor.layout.offset, &mut into)?;
        got.push(floats(&into));
    }
    interpret(&plan, &mut storages)
        .map_err(|e| wrong("self-test", "a reference".to_owned(), e.to_string()))?;
    for ((_, tensor), got) in graph.outputs.iter().zip(got) {
        let tensor = graph.tensor(*tensor);
        let start = tensor.layout.offset as usize;
        let want = floats(&storages[tensor.storage.index()][start..start + tensor.layout.bytes() as usize]);
        let largest = want.iter().fold(0f32, |most, v| most.max(v.abs()));
        let within = largest * if exact { EXACT } else { FAST };
        // NaN is near nothing.
        let near = |got: f32, want: f32| (got - want).abs() <= within;
        let bad = got.iter().zip(&want).find(|(got, want)| !near(**got, **want));
        if let Some((got, want)) = bad {
            let what = if exact { "exact kernels" } else { "fast kernels" };
            return Err(wrong(what, want.to_string(), got.to_string()));
        }
    }
    Ok(())
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect()
}
