//! From a file's text to a checked graph.

use super::order;
use super::record::{
    Bounded, FORMAT, GraphRecord, NodeRecord, OutputRecord, StorageRecord, TensorRecord, VERSION,
};
use super::{Entry, GraphFileError};
use crate::graph::{
    DType, Graph, GraphError, Layout, Node, NodeId, Owner, Storage, StorageId, Tensor, TensorId,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashSet;

/// The longest file that is read, in bytes.
pub const MOST_BYTES: u64 = 32 << 20;
/// Most storages of a graph file.
pub const MOST_STORAGES: usize = 1 << 16;
/// Most tensors of a graph file.
pub const MOST_TENSORS: usize = 1 << 18;
/// Most nodes of a graph file.
pub const MOST_NODES: usize = 1 << 16;
/// Largest storage in bytes, extent, number of elements, stride and offset: no sum or product of two of them overflows.
pub const MOST_SIZE: u64 = 1 << 48;
/// Longest name in bytes.
const MOST_NAME: usize = 1024;
/// Most sources or results of a node that are read; what an operation takes is checked afterwards.
const MOST_OPERANDS: usize = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw<'a> {
    format: String,
    version: u64,
    #[serde(borrow)]
    storages: Bounded<&'a RawValue, MOST_STORAGES>,
    #[serde(borrow)]
    tensors: Bounded<&'a RawValue, MOST_TENSORS>,
    #[serde(borrow)]
    nodes: Bounded<&'a RawValue, MOST_NODES>,
    #[serde(borrow)]
    outputs: Bounded<&'a RawValue, MOST_TENSORS>,
}

impl Graph {
    /// The graph of a file's bytes.
    ///
    /// # Errors
    /// The first fault, naming the entry.
    pub fn from_json(bytes: &[u8]) -> Result<Graph, GraphFileError> {
        if bytes.len() as u64 > MOST_BYTES {
            return Err(GraphFileError::TooLarge { bytes: bytes.len() as u64, most: MOST_BYTES });
        }
        let raw: Raw<'_> =
            serde_json::from_slice(bytes).map_err(|error| GraphFileError::Form { why: error.to_string() })?;
        GraphRecord {
            format: raw.format,
            version: raw.version,
            storages: entries("storage", &raw.storages.0)?,
            tensors: entries("tensor", &raw.tensors.0)?,
            nodes: entries("node", &raw.nodes.0)?,
            outputs: entries("output", &raw.outputs.0)?,
        }
        .graph()
    }
}

fn entries<'a, T: Deserialize<'a>>(
    list: &'static str,
    raw: &[&'a RawValue],
) -> Result<Vec<T>, GraphFileError> {
    let read = |(index, text): (usize, &&'a RawValue)| {
        serde_json::from_str(text.get()).map_err(|error| {
            // Lines of the entry alone would mislead.
            let why = error.to_string();
            let why = why.split(" at line ").next().unwrap_or_default().to_owned();
            GraphFileError::Entry { entry: Entry { list, index, name: String::new() }, why }
        })
    };
    raw.iter().enumerate().map(read).collect()
}

impl GraphRecord {
    /// The checked graph.
    ///
    /// # Errors
    /// The first fault, naming the entry.
    pub fn graph(&self) -> Result<Graph, GraphFileError> {
        if self.format != FORMAT {
            return Err(GraphFileError::Format { got: self.format.clone(), want: FORMAT });
        }
        if self.version != VERSION {
            return Err(GraphFileError::Version { got: self.version, want: VERSION });
        }
        let mut graph = Graph { storages: self.storages()?, ..Graph::default() };
        for (index, record) in self.tensors.iter().enumerate() {
            let entry = || Entry { list: "tensor", index, name: String::new() };
            graph.tensors.push(tensor(record, &entry)?);
            let checked = graph.verify_tensor(TensorId(index as u32));
            checked.map_err(|source| invalid(entry(), source))?;
        }
        for (index, record) in self.nodes.iter().enumerate() {
            graph.nodes.push(self.node(index, record)?);
        }
        graph.outputs = self.outputs()?;
        let told = self.tensors.iter().filter(|tensor| tensor.version.is_some()).count();
        match self.tensors.iter().position(|tensor| tensor.version.is_none()) {
            Some(index) if told > 0 => {
                let why = "it has no `version`, and others have one: give it to all tensors, or to none";
                let entry = Entry { list: "tensor", index, name: String::new() };
                return Err(GraphFileError::Entry { entry, why: why.to_owned() });
            }
            Some(_) => order::in_program_order(&mut graph),
            None => {}
        }
        for id in graph.node_ids() {
            graph.verify_node(id).map_err(|source| invalid(node_entry(&graph, id), source))?;
        }
        graph.verify()?;
        Ok(graph)
    }

    fn storages(&self) -> Result<Vec<Storage>, GraphFileError> {
        let mut names = HashSet::new();
        let mut storages = Vec::with_capacity(self.storages.len());
        for (index, StorageRecord { name, kind, bytes }) in self.storages.iter().enumerate() {
            let entry = || Entry { list: "storage", index, name: shortened(name) };
            named(name, &entry)?;
            at_most(*bytes, "bytes", &entry)?;
            if *kind != Owner::Activation {
                if name.is_empty() {
                    let why = "a weight, state or input has a `name`, and this one has none".to_owned();
                    return Err(GraphFileError::Entry { entry: entry(), why });
                }
                if !names.insert(name.as_str()) {
                    let source = GraphError::DuplicateName { name: name.clone() };
                    return Err(invalid(entry(), source));
                }
            }
            storages.push(Storage { name: name.clone(), owner: *kind, bytes: *bytes });
        }
        Ok(storages)
    }

    fn node(&self, index: usize, record: &NodeRecord) -> Result<Node, GraphFileError> {
        let name = if record.name.is_empty() { &record.op } else { &record.name };
        let entry = || Entry { list: "node", index, name: shortened(name) };
        named(name, &entry)?;
        let fault = |why: String| GraphFileError::Entry { entry: entry(), why };
        let op = record.operation().map_err(fault)?;
        for (list, count) in [("sources", record.sources.len()), ("results", record.results.len())] {
            if count > MOST_OPERANDS {
                return Err(fault(format!("{count} `{list}`: no operation has so many")));
            }
        }
        let known = |id: u32| {
            let tensor = TensorId(id);
            match tensor.index() < self.tensors.len() {
                true => Ok(tensor),
                false => {
                    let source = GraphError::NoTensor { tensor };
                    Err(invalid(entry(), source))
                }
            }
        };
        let sources = record.sources.iter().map(|source| source.map(known).transpose());
        Ok(Node {
            op,
            sources: sources.collect::<Result<_, _>>()?,
            results: record.results.iter().copied().map(known).collect::<Result<_, _>>()?,
            label: record.name.clone(),
        })
    }

    fn outputs(&self) -> Result<Vec<(String, TensorId)>, GraphFileError> {
        let mut names = HashSet::new();
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for (index, OutputRecord { name, tensor }) in self.outputs.iter().enumerate() {
            let entry = || Entry { list: "output", index, name: shortened(name) };
            named(name, &entry)?;
            let source = match names.insert(name.as_str()) {
                false => Some(GraphError::DuplicateName { name: name.clone() }),
                true if *tensor as usize >= self.tensors.len() => {
                    Some(GraphError::NoTensor { tensor: TensorId(*tensor) })
                }
                true => None,
            };
            if let Some(source) = source {
                return Err(invalid(entry(), source));
            }
            outputs.push((name.clone(), TensorId(*tensor)));
        }
        Ok(outputs)
    }
}

fn tensor(record: &TensorRecord, entry: &impl Fn() -> Entry) -> Result<Tensor, GraphFileError> {
    let fault = |why: String| Err(GraphFileError::Entry { entry: entry(), why });
    let Some(dtype) = DType::from_name(&record.dtype) else {
        return fault(format!("the element type `{}` is unknown", shortened(&record.dtype)));
    };
    let shape = four(&record.shape);
    let strides = record.strides.as_ref().map(|strides| four(strides));
    let (Some(shape), Some(strides)) = (shape, strides.unwrap_or(Some([0; 4]))) else {
        return fault("`shape` and `strides` hold one to four numbers".to_owned());
    };
    at_most(record.offset, "offset", entry)?;
    shape.iter().try_for_each(|extent| at_most(*extent, "shape", entry))?;
    strides.iter().try_for_each(|stride| at_most(*stride, "strides", entry))?;
    let elements = shape.iter().filter(|extent| **extent > 0).fold(1u64, |n, e| n.saturating_mul(*e));
    at_most(elements, "shape", entry)?;
    let Some(packed) = Layout::packed(dtype, shape) else {
        let source = GraphError::Unpackable { op: "tensor", dtype, shape };
        return Err(invalid(entry(), source));
    };
    let strides = match &record.strides {
        None => packed.strides,
        Some(given) if given.len() == 4 => strides,
        Some(given) if given.len() == record.shape.len() => {
            // Dimensions that are not written have extent one, so their strides are never used.
            let mut all = packed.strides;
            all[..given.len()].copy_from_slice(given);
            all
        }
        Some(given) => {
            return fault(format!("{} `strides` for {} extents", given.len(), record.shape.len()));
        }
    };
    let layout = Layout { strides, offset: record.offset, ..packed };
    Ok(Tensor { storage: StorageId(record.storage), layout, version: record.version.unwrap_or(0) })
}

fn four(numbers: &[u64]) -> Option<[u64; 4]> {
    let mut all = [1; 4];
    all.get_mut(..numbers.len()).filter(|part| !part.is_empty())?.copy_from_slice(numbers);
    Some(all)
}

fn at_most(got: u64, field: &'static str, entry: &impl Fn() -> Entry) -> Result<(), GraphFileError> {
    if got <= MOST_SIZE {
        return Ok(());
    }
    Err(GraphFileError::Limit { entry: entry(), field, got, most: MOST_SIZE })
}

fn named(name: &str, entry: &impl Fn() -> Entry) -> Result<(), GraphFileError> {
    if name.len() <= MOST_NAME {
        return Ok(());
    }
    let (got, most) = (name.len() as u64, MOST_NAME as u64);
    Err(GraphFileError::Limit { entry: entry(), field: "name", got, most })
}

fn invalid(entry: Entry, source: GraphError) -> GraphFileError {
    GraphFileError::Invalid { entry, source: Box::new(source) }
}

/// A name as a message shows it.
fn shortened(name: &str) -> String {
    name.chars().take(80).collect()
}

fn node_entry(graph: &Graph, id: NodeId) -> Entry {
    let node = graph.node(id);
    let stem = node.op.kind().signature().stem;
    let name = if node.label.is_empty() { stem.to_owned() } else { shortened(&node.label) };
    Entry { list: "node", index: id.index(), name }
}
