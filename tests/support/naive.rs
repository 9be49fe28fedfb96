//! A sequential interpreter: nodes one by one in the order of the list, each by its reference kernel. It knows nothing of
//! versions, dependencies, claims or plans.

use crate::run::{Data, floats};
use std::cell::Cell;
use std::collections::BTreeMap;
use weft_core::driver::Claim;
use weft_core::graph::{Graph, Layout, NodeId, Op, Owner, StorageId, TensorId, Use};
use weft_core::kernels::{self, Call, KernelError, Place};
use weft_core::rules;

/// What a program leaves behind.
#[derive(Debug)]
pub struct Left {
    pub outputs: BTreeMap<String, Vec<u8>>,
    pub states: BTreeMap<String, Vec<u8>>,
}

impl Left {
    /// An f32 output.
    pub fn output(&self, name: &str) -> Vec<f32> {
        floats(&self.outputs[name])
    }
}

/// The bytes of every storage. Activations start as NaN.
pub struct Memory(Vec<Vec<Cell<u8>>>);

impl Memory {
    /// Storages filled from `data`.
    pub fn new(graph: &Graph, data: &Data) -> Self {
        let fill = |storage: &weft_core::graph::Storage| match storage.owner {
            Owner::Activation => vec![Cell::new(0xff); storage.bytes as usize],
            _ => data[&storage.name].iter().map(|b| Cell::new(*b)).collect(),
        };
        Memory(graph.storages.iter().map(fill).collect())
    }

    /// A storage's bytes.
    pub fn bytes(&self, storage: StorageId) -> &[Cell<u8>] {
        &self.0[storage.index()]
    }

    /// Runs one node by the kernel of its operation.
    ///
    /// # Errors
    /// The kernel's.
    pub fn step(&self, graph: &Graph, id: NodeId) -> Result<(), KernelError> {
        let node = graph.node(id);
        if node.op == Op::View {
            return Ok(());
        }
        let signature = node.op.kind().signature();
        let kernel = kernels::by_stem(signature.stem).expect("a kernel for every operation");
        let named = |name: &str| -> Option<TensorId> {
            let source = signature.sources.iter().position(|p| p.name == name && p.usage == Use::Read);
            if let Some(index) = source {
                return node.sources.get(index).copied().flatten();
            }
            let result = signature.results.iter().position(|n| *n == name)?;
            node.results.get(result).copied()
        };
        let operands: Vec<Option<Place<'_>>> =
            kernel.contract.ports.iter().map(|port| named(port.name).map(|t| self.place(graph, t))).collect();
        let constants = rules::constants(&node.op);
        (kernel.reference)(&Call::new(&kernel.contract, &operands, &constants)?)
    }

    /// A tensor's layout with the bytes it lies on.
    pub fn place(&self, graph: &Graph, tensor: TensorId) -> Place<'_> {
        let tensor = graph.tensor(tensor);
        (tensor.layout, self.bytes(tensor.storage))
    }

    /// Outputs and states as they stand.
    pub fn left(&self, graph: &Graph) -> Left {
        let outputs = graph.outputs.iter().map(|(name, tensor)| {
            let tensor = graph.tensor(*tensor);
            (name.clone(), elements(&tensor.layout, self.bytes(tensor.storage)))
        });
        let states = graph
            .storages
            .iter()
            .zip(&self.0)
            .filter(|(storage, _)| storage.owner == Owner::State)
            .map(|(storage, bytes)| (storage.name.clone(), bytes.iter().map(Cell::get).collect()));
        Left { outputs: outputs.collect(), states: states.collect() }
    }
}

/// Runs a graph from the first node of its list to the last.
///
/// # Errors
/// A kernel refused its data.
pub fn interpret(graph: &Graph, data: &Data) -> Result<Left, KernelError> {
    let memory = Memory::new(graph, data);
    graph.node_ids().try_for_each(|node| memory.step(graph, node))?;
    Ok(memory.left(graph))
}

/// A layout's elements in order, packed.
fn elements(layout: &Layout, bytes: &[Cell<u8>]) -> Vec<u8> {
    let size = layout.dtype.block_bytes();
    let [n0, n1, n2, n3] = layout.shape;
    let [s0, s1, s2, s3] = layout.strides;
    let mut all = Vec::with_capacity(layout.bytes() as usize);
    for i3 in 0..n3 {
        for i2 in 0..n2 {
            for i1 in 0..n1 {
                for i0 in 0..n0 / layout.dtype.block_values() {
                    let at = (layout.offset + i0 * s0 + i1 * s1 + i2 * s2 + i3 * s3) as usize;
                    all.extend(bytes[at..at + size as usize].iter().map(Cell::get));
                }
            }
        }
    }
    all
}

/// Runs a graph with one claim in the place of the nodes it covers: its kernel runs where the last of them stood. Nobody
/// asks whether that is legal.
///
/// # Errors
/// A kernel refused its data.
///
/// # Panics
/// The claim names no kernel.
pub fn merged(graph: &Graph, claim: &Claim, data: &Data) -> Result<Left, KernelError> {
    let memory = Memory::new(graph, data);
    let kernel = kernels::by_stem(claim.kernel).expect("a kernel");
    let last = claim.nodes.iter().max().copied();
    for node in graph.node_ids() {
        if Some(node) == last {
            let operands: Vec<Option<Place<'_>>> = kernel
                .contract
                .ports
                .iter()
                .map(|port| {
                    let bound = claim.operands.iter().find(|(name, _)| *name == port.name);
                    bound.map(|(_, tensor)| (tensor.layout, memory.bytes(tensor.storage)))
                })
                .collect();
            (kernel.reference)(&Call::new(&kernel.contract, &operands, &claim.constants)?)?;
        } else if !claim.nodes.contains(&node) {
            memory.step(graph, node)?;
        }
    }
    Ok(memory.left(graph))
}
