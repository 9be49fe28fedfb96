//! Graphs as an importer makes them: nodes in program order, values named by their bytes.
//!
//! A [`Value`] is a layout on a storage. Each use of it reads what the bytes hold at that point of the program, so the
//! versions follow from the order of the calls. Unlike the graph builder this one puts results anywhere and lets a node
//! name its own result; [`Import::finish`] verifies what came out.

use std::collections::HashMap;
use weft_core::graph::{
    BinaryKind, DType, Graph, GraphError, Layout, Node, NodeId, Op, Owner, Placed, Storage, StorageId,
    Tensor, TensorId, UnaryKind, results,
};

/// A layout on a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    pub storage: StorageId,
    pub layout: Layout,
}

impl Value {
    /// Extents, innermost first.
    pub fn shape(&self) -> [u64; 4] {
        self.layout.shape
    }
}

/// A graph under construction.
#[derive(Debug, Default)]
pub struct Import {
    graph: Graph,
    writes: Vec<u32>,
    known: HashMap<(Value, u32), TensorId>,
}

impl Import {
    /// The storages of another graph, by the same ids, and nothing else.
    pub fn over(old: &Graph) -> Self {
        let graph = Graph { storages: old.storages.clone(), ..Graph::default() };
        let mut new = Import { graph, writes: vec![0; old.storages.len()], known: HashMap::new() };
        for tensor in old.tensors.iter().filter(|t| t.version == 0) {
            new.now(Value { storage: tensor.storage, layout: tensor.layout });
        }
        new
    }

    /// The graph so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// A block of bytes.
    pub fn storage(&mut self, name: &str, owner: Owner, bytes: u64) -> StorageId {
        self.graph.storages.push(Storage { name: name.to_owned(), owner, bytes });
        self.writes.push(0);
        StorageId(self.graph.storages.len() as u32 - 1)
    }

    fn packed(&mut self, name: &str, owner: Owner, dtype: DType, shape: [u64; 4]) -> Value {
        let layout = Layout::packed(dtype, shape).expect("whole blocks");
        let value = Value { storage: self.storage(name, owner, layout.bytes()), layout };
        if owner != Owner::Activation {
            self.now(value);
        }
        value
    }

    /// A weight.
    pub fn weight(&mut self, name: &str, dtype: DType, shape: &[u64]) -> Value {
        self.packed(name, Owner::Weight, dtype, four(shape))
    }

    /// A state.
    pub fn state(&mut self, name: &str, dtype: DType, shape: &[u64]) -> Value {
        self.packed(name, Owner::State, dtype, four(shape))
    }

    /// An input.
    pub fn input(&mut self, name: &str, dtype: DType, shape: &[u64]) -> Value {
        self.packed(name, Owner::Input, dtype, four(shape))
    }

    /// Fresh packed bytes that no node has written yet.
    pub fn fresh(&mut self, dtype: DType, shape: [u64; 4]) -> Value {
        self.packed("", Owner::Activation, dtype, shape)
    }

    /// The tensor of a value as it stands now.
    pub fn now(&mut self, value: Value) -> TensorId {
        let version = self.writes[value.storage.index()];
        self.tensor(value, version)
    }

    fn tensor(&mut self, value: Value, version: u32) -> TensorId {
        let graph = &mut self.graph;
        *self.known.entry((value, version)).or_insert_with(|| {
            graph.tensors.push(Tensor { storage: value.storage, layout: value.layout, version });
            TensorId(graph.tensors.len() as u32 - 1)
        })
    }

    /// Appends a node as it is: results at these bytes. A source that is `Own` is the node's first result.
    pub fn push(&mut self, op: Op, sources: &[Source], places: &[Value], label: &str) -> NodeId {
        let mut taken: Vec<Option<TensorId>> = sources
            .iter()
            .map(|source| match source {
                Source::Value(value) => Some(self.now(*value)),
                Source::Own | Source::None => None,
            })
            .collect();
        let made: Vec<TensorId> = places
            .iter()
            .map(|place| {
                let version = &mut self.writes[place.storage.index()];
                *version += u32::from(op != Op::View);
                let version = *version;
                self.tensor(*place, version)
            })
            .collect();
        for (taken, source) in taken.iter_mut().zip(sources) {
            if *source == Source::Own {
                *taken = made.first().copied();
            }
        }
        self.graph.nodes.push(Node { op, sources: taken, results: made, label: label.to_owned() });
        NodeId(self.graph.nodes.len() as u32 - 1)
    }

    /// Appends an operation; results go to fresh bytes or, where the operation says so, onto a source.
    ///
    /// # Panics
    /// The sources do not fit the operation.
    pub fn apply(&mut self, op: Op, sources: &[Option<Value>]) -> Vec<Value> {
        let layouts: Vec<_> = sources.iter().map(|s| s.map(|v| v.layout)).collect();
        let placed = results(&op, &layouts).unwrap_or_else(|error| panic!("{op:?}: {error}"));
        let places: Vec<Value> = placed
            .into_iter()
            .map(|placed| match placed {
                Placed::Fresh(shaped) => self.fresh(shaped.dtype, shaped.shape),
                Placed::Onto(index) => sources[index].expect("a target"),
            })
            .collect();
        let sources: Vec<Source> = sources.iter().map(|s| s.map_or(Source::None, Source::Value)).collect();
        self.push(op, &sources, &places, "");
        places
    }

    /// An operation with one result.
    pub fn op(&mut self, op: Op, sources: &[Value]) -> Value {
        let sources: Vec<_> = sources.iter().copied().map(Some).collect();
        self.apply(op, &sources)[0]
    }

    /// An operation whose result goes to these bytes.
    pub fn op_at(&mut self, op: Op, sources: &[Value], place: Value) -> Value {
        let sources: Vec<_> = sources.iter().copied().map(Source::Value).collect();
        self.push(op, &sources, &[place], "");
        place
    }

    /// An operation whose result overwrites its first source.
    pub fn in_place(&mut self, op: Op, sources: &[Value]) -> Value {
        self.op_at(op, sources, sources[0])
    }

    /// A function of one value.
    pub fn unary(&mut self, kind: UnaryKind, x: Value) -> Value {
        self.op(Op::Unary { kind }, &[x])
    }

    /// A function of two values.
    pub fn binary(&mut self, kind: BinaryKind, a: Value, b: Value) -> Value {
        self.op(Op::Binary { kind }, &[a, b])
    }

    /// `a + b`.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryKind::Add, a, b)
    }

    /// `a·b`.
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.binary(BinaryKind::Mul, a, b)
    }

    /// `x·scale + bias`.
    pub fn scale(&mut self, x: Value, scale: f32, bias: f32) -> Value {
        self.op(Op::Scale { scale, bias }, &[x])
    }

    /// A packed copy of the same type.
    pub fn packed_copy(&mut self, x: Value) -> Value {
        self.op(Op::Cast { to: x.layout.dtype }, &[x])
    }

    /// A cast as foreign graphs write it: a copy whose target is its own result.
    pub fn cast_into_self(&mut self, x: Value, to: DType) -> Value {
        let place = self.fresh(to, x.shape());
        self.push(Op::Copy, &[Source::Value(x), Source::Own], &[place], "");
        place
    }

    /// A view of any layout; `offset` counts bytes from the value's first element.
    pub fn view(&mut self, of: Value, shape: [u64; 4], strides: [u64; 4], offset: u64) -> Value {
        let dtype = of.layout.dtype;
        self.alias(of, Layout { dtype, shape, strides, offset: of.layout.offset + offset })
    }

    /// A view node with this layout.
    pub fn alias(&mut self, of: Value, layout: Layout) -> Value {
        let place = Value { layout, ..of };
        self.push(Op::View, &[Source::Value(of)], &[place], "");
        place
    }

    /// The same elements under another shape.
    pub fn reshape(&mut self, of: Value, shape: &[u64]) -> Value {
        let layout = of.layout.reshaped(four(shape)).expect("a reshape that strides can express");
        self.alias(of, layout)
    }

    /// Dimensions in another order.
    pub fn permute(&mut self, of: Value, order: [usize; 4]) -> Value {
        let mut layout = of.layout;
        for (dim, from) in order.into_iter().enumerate() {
            layout.shape[dim] = of.layout.shape[from];
            layout.strides[dim] = of.layout.strides[from];
        }
        self.alias(of, layout)
    }

    /// `count` indices of one dimension, from `start`.
    pub fn slice(&mut self, of: Value, dim: usize, start: u64, count: u64) -> Value {
        let mut layout = of.layout;
        assert!(start + count <= layout.shape[dim], "the slice stays inside");
        layout.shape[dim] = count;
        layout.offset += start * layout.strides[dim];
        self.alias(of, layout)
    }

    /// Names the last node.
    pub fn label(&mut self, label: &str) {
        if let Some(node) = self.graph.nodes.last_mut() {
            label.clone_into(&mut node.label);
        }
    }

    /// Asks for a value's bytes as they stand now.
    pub fn output(&mut self, name: &str, value: Value) {
        let tensor = self.now(value);
        self.graph.outputs.push((name.to_owned(), tensor));
    }

    /// The finished graph.
    ///
    /// # Errors
    /// The graph is malformed.
    pub fn finish(self) -> Result<Graph, GraphError> {
        self.graph.verify()?;
        Ok(self.graph)
    }
}

/// A source of a node under construction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// Left out.
    None,
    /// A value as it stands.
    Value(Value),
    /// The node's own first result.
    Own,
}

/// A shape with its unused dimensions.
pub fn four(shape: &[u64]) -> [u64; 4] {
    let mut all = [1; 4];
    all[..shape.len()].copy_from_slice(shape);
    all
}
