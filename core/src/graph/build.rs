//! Appending operations to a graph.

use super::{
    BinaryKind, DType, Graph, GraphError, Layout, Node, NodeId, Op, Owner, Placed, Storage, StorageId,
    Tensor, TensorId, UnaryKind, Use, may_be_in_place, results,
};
use std::collections::{HashMap, HashSet};

/// Builds a [`Graph`] operation by operation.
///
/// Each call gives the result's tensor; a result that lies on existing storage is a new version of those bytes.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    pub(super) graph: Graph,
    writes: Vec<u32>,
    names: HashMap<String, StorageId>,
    outputs: HashSet<String>,
}

impl GraphBuilder {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// A weight: loaded once, never written.
    ///
    /// # Errors
    /// The name is taken, or the shape is not packable.
    pub fn weight(&mut self, name: &str, dtype: DType, shape: &[u64]) -> Result<TensorId, GraphError> {
        self.external(name, Owner::Weight, dtype, shape)
    }

    /// A state: lives across runs and may be written.
    ///
    /// # Errors
    /// As [`GraphBuilder::weight`].
    pub fn state(&mut self, name: &str, dtype: DType, shape: &[u64]) -> Result<TensorId, GraphError> {
        self.external(name, Owner::State, dtype, shape)
    }

    /// An input: written by the host before each run.
    ///
    /// # Errors
    /// As [`GraphBuilder::weight`].
    pub fn input(&mut self, name: &str, dtype: DType, shape: &[u64]) -> Result<TensorId, GraphError> {
        self.external(name, Owner::Input, dtype, shape)
    }

    fn external(
        &mut self,
        name: &str,
        owner: Owner,
        dtype: DType,
        shape: &[u64],
    ) -> Result<TensorId, GraphError> {
        if self.names.contains_key(name) {
            return Err(GraphError::DuplicateName { name: name.to_owned() });
        }
        let layout = packed("storage", dtype, extents(shape)?)?;
        let storage = self.storage(name.to_owned(), owner, layout.bytes());
        self.names.insert(name.to_owned(), storage);
        Ok(self.tensor(Tensor { storage, layout, version: 0 }))
    }

    /// The graph so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Appends an operation; results go to fresh storage or, where the operation says so, onto a source.
    ///
    /// # Errors
    /// The sources do not fit the operation.
    pub fn apply(&mut self, op: Op, sources: &[Option<TensorId>]) -> Result<Vec<TensorId>, GraphError> {
        self.append(op, sources, false)
    }

    /// Appends an operation whose result overwrites its first source.
    ///
    /// # Errors
    /// The sources do not fit the operation, or it cannot work in place.
    pub fn apply_in_place(&mut self, op: Op, sources: &[Option<TensorId>]) -> Result<TensorId, GraphError> {
        let stem = op.kind().signature().stem;
        if !may_be_in_place(op.kind()) {
            return Err(GraphError::Attribute {
                op: stem,
                attribute: "in place",
                why: "this operation cannot",
            });
        }
        let made = self.append(op, sources, true)?;
        made.first().copied().ok_or(GraphError::ResultCount { op: stem, got: 0, want: 1 })
    }

    fn append(
        &mut self,
        op: Op,
        sources: &[Option<TensorId>],
        in_place: bool,
    ) -> Result<Vec<TensorId>, GraphError> {
        let stem = op.kind().signature().stem;
        let mut layouts = Vec::with_capacity(sources.len());
        for source in sources {
            layouts.push(source.map(|id| self.at(id).map(|t| t.layout)).transpose()?);
        }
        let mut made = Vec::new();
        for placed in results(&op, &layouts)? {
            let onto = match placed {
                Placed::Onto(index) => Some(index),
                Placed::Fresh(_) if in_place && made.is_empty() => Some(0),
                Placed::Fresh(_) => None,
            };
            let tensor = match (onto, placed) {
                (Some(index), _) => {
                    let target = sources.get(index).copied().flatten();
                    let target =
                        *self.at(target.ok_or(GraphError::MissingSource { op: stem, port: "target" })?)?;
                    if let Placed::Fresh(shaped) = placed
                        && (target.dtype() != shaped.dtype || target.shape() != shaped.shape)
                    {
                        let why = "the result's type and shape differ from the first source's";
                        return Err(GraphError::Attribute { op: stem, attribute: "in place", why });
                    }
                    self.written(target.storage, target.layout)
                }
                (None, Placed::Fresh(shaped)) => {
                    let layout = packed(stem, shaped.dtype, shaped.shape)?;
                    let storage = self.storage(String::new(), Owner::Activation, layout.bytes());
                    self.written(storage, layout)
                }
                (None, Placed::Onto(_)) => continue,
            };
            made.push(tensor);
        }
        self.graph.nodes.push(Node {
            op,
            sources: sources.to_vec(),
            results: made.clone(),
            label: String::new(),
        });
        Ok(made)
    }

    fn written(&mut self, storage: StorageId, layout: Layout) -> TensorId {
        let version = &mut self.writes[storage.index()];
        *version += 1;
        let version = *version;
        self.tensor(Tensor { storage, layout, version })
    }

    fn one(&mut self, op: Op, sources: &[TensorId]) -> Result<TensorId, GraphError> {
        let sources: Vec<_> = sources.iter().copied().map(Some).collect();
        let made = self.apply(op, &sources)?;
        made.first().copied().ok_or(GraphError::ResultCount {
            op: op.kind().signature().stem,
            got: 0,
            want: 1,
        })
    }

    /// Appends an operation with one result and no optional sources.
    ///
    /// # Errors
    /// The sources do not fit the operation.
    pub fn op(&mut self, op: Op, sources: &[TensorId]) -> Result<TensorId, GraphError> {
        self.one(op, sources)
    }

    /// `weight·x`.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn mul_mat(&mut self, weight: TensorId, x: TensorId) -> Result<TensorId, GraphError> {
        self.one(Op::MulMat, &[weight, x])
    }

    /// `a + b`, b repeated to a's shape.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn add(&mut self, a: TensorId, b: TensorId) -> Result<TensorId, GraphError> {
        self.one(Op::Binary { kind: BinaryKind::Add }, &[a, b])
    }

    /// `a·b` element by element, b repeated to a's shape.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn mul(&mut self, a: TensorId, b: TensorId) -> Result<TensorId, GraphError> {
        self.one(Op::Binary { kind: BinaryKind::Mul }, &[a, b])
    }

    /// A function of one value.
    ///
    /// # Errors
    /// The source does not exist or is not a float.
    pub fn unary(&mut self, kind: UnaryKind, x: TensorId) -> Result<TensorId, GraphError> {
        self.one(Op::Unary { kind }, &[x])
    }

    /// `rms_norm(x)·weight`, as two nodes.
    ///
    /// # Errors
    /// The shapes do not fit.
    pub fn rms_norm(&mut self, x: TensorId, weight: TensorId, eps: f32) -> Result<TensorId, GraphError> {
        let normed = self.one(Op::RmsNorm { eps }, &[x])?;
        self.mul(normed, weight)
    }

    /// Names the last appended node for people.
    pub fn label(&mut self, label: &str) {
        if let Some(node) = self.graph.nodes.last_mut() {
            label.clone_into(&mut node.label);
        }
    }

    /// Asks for a tensor's bytes after each run.
    ///
    /// # Errors
    /// The tensor does not exist or the name is taken.
    pub fn output(&mut self, name: &str, tensor: TensorId) -> Result<(), GraphError> {
        self.at(tensor)?;
        if !self.outputs.insert(name.to_owned()) {
            return Err(GraphError::DuplicateName { name: name.to_owned() });
        }
        self.graph.outputs.push((name.to_owned(), tensor));
        Ok(())
    }

    /// The finished graph.
    ///
    /// # Errors
    /// The graph is malformed: see [`Graph::verify`].
    pub fn finish(self) -> Result<Graph, GraphError> {
        self.graph.verify()?;
        Ok(self.graph)
    }

    pub(super) fn at(&self, id: TensorId) -> Result<&Tensor, GraphError> {
        self.graph.tensors.get(id.index()).ok_or(GraphError::NoTensor { tensor: id })
    }

    pub(super) fn tensor(&mut self, tensor: Tensor) -> TensorId {
        self.graph.tensors.push(tensor);
        TensorId(self.graph.tensors.len() as u32 - 1)
    }

    fn storage(&mut self, name: String, owner: Owner, bytes: u64) -> StorageId {
        self.graph.storages.push(Storage { name, owner, bytes });
        self.writes.push(0);
        StorageId(self.graph.storages.len() as u32 - 1)
    }

    /// Appends a view node.
    pub(super) fn alias(&mut self, of: TensorId, layout: Layout) -> Result<TensorId, GraphError> {
        let source = *self.at(of)?;
        let bytes = self.graph.storage(source.storage).bytes;
        let outside = GraphError::OutsideStorage {
            shape: layout.shape,
            strides: layout.strides,
            offset: layout.offset,
            bytes,
        };
        match layout.range() {
            Some(range) if range.end <= bytes => {}
            _ => return Err(outside),
        }
        let result = self.tensor(Tensor { layout, ..source });
        let node =
            Node { op: Op::View, sources: vec![Some(of)], results: vec![result], label: String::new() };
        self.graph.nodes.push(node);
        Ok(result)
    }
}

/// One write to a storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    /// The version that it makes.
    pub version: u32,
    /// Who writes.
    pub node: NodeId,
    /// Which bytes.
    pub layout: Layout,
    /// Whether some of them may keep their value.
    pub keeps: bool,
}

impl Write {
    /// Whether nothing of what a tensor's bytes held before can be seen after this write.
    pub fn hides(&self, layout: &Layout) -> bool {
        !self.keeps && self.layout.contains(layout)
    }
}

impl Graph {
    /// For each storage its writes, by version. Reads of a node follow from its signature.
    pub(crate) fn writers(&self) -> Vec<Vec<Write>> {
        let mut writers = vec![Vec::new(); self.storages.len()];
        for node in self.node_ids() {
            let keeps = self.keeps(node);
            for tensor in self.writes(node) {
                let Tensor { storage, layout, version } = *self.tensor(tensor);
                writers[storage.index()].push(Write { version, node, layout, keeps });
            }
        }
        writers.iter_mut().for_each(|list: &mut Vec<Write>| list.sort_by_key(|write| write.version));
        writers
    }

    /// Whether a node writes only some of its result's bytes.
    pub(crate) fn keeps(&self, id: NodeId) -> bool {
        self.node(id).op.kind().signature().sources.iter().any(|port| port.usage == Use::Keep)
    }

    /// Whether a node's source at `index` is read.
    pub(crate) fn is_read(&self, node: &Node, index: usize) -> bool {
        node.op.kind().signature().sources.get(index).is_some_and(|port| port.usage == Use::Read)
    }
}

fn extents(shape: &[u64]) -> Result<[u64; 4], GraphError> {
    let mut all = [1; 4];
    if shape.len() > 4 {
        return Err(GraphError::Dimension { dim: shape.len() });
    }
    all[..shape.len()].copy_from_slice(shape);
    Ok(all)
}

fn packed(op: &'static str, dtype: DType, shape: [u64; 4]) -> Result<Layout, GraphError> {
    Layout::packed(dtype, shape).ok_or(GraphError::Unpackable { op, dtype, shape })
}
