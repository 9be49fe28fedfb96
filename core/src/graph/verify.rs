//! Valid or rejected: the checks that every graph passes before planning, whoever built it.

use super::{
    Dependencies, Graph, GraphError, NodeId, Op, Owner, Placed, Tensor, TensorId, may_be_in_place, results,
};

impl Graph {
    /// Checks ids, views, shape rules, versions, targets and acyclicity.
    ///
    /// # Errors
    /// The first fault found, naming node, port or storage.
    pub fn verify(&self) -> Result<(), GraphError> {
        self.verify_tensors()?;
        for id in self.node_ids() {
            self.verify_node(id)?;
        }
        for (_, tensor) in &self.outputs {
            self.known(*tensor)?;
        }
        self.verify_versions()?;
        self.verify_outputs()?;
        let keeps = |id| self.writes(id).any(|t| self.storage(self.tensor(t).storage).owner == Owner::State);
        if self.outputs.is_empty() && !self.node_ids().any(keeps) {
            return Err(GraphError::NoOutputs);
        }
        Dependencies::of(self).order().map(|_| ())
    }

    fn known(&self, id: TensorId) -> Result<(), GraphError> {
        if id.index() < self.tensors.len() { Ok(()) } else { Err(GraphError::NoTensor { tensor: id }) }
    }

    fn verify_tensors(&self) -> Result<(), GraphError> {
        (0..self.tensors.len()).try_for_each(|index| self.verify_tensor(TensorId(index as u32)))
    }

    /// That a tensor lies inside a storage that exists, and that its rows are whole blocks.
    pub(super) fn verify_tensor(&self, id: TensorId) -> Result<(), GraphError> {
        let Tensor { storage, layout, .. } = *self.tensor(id);
        let Some(block) = self.storages.get(storage.index()) else {
            return Err(GraphError::NoStorage { tensor: id, storage });
        };
        let whole = layout.shape[0].is_multiple_of(layout.dtype.block_values());
        let elements = layout.shape.iter().try_fold(1u64, |n, e| n.checked_mul(*e));
        if !whole || elements.is_none() {
            return Err(GraphError::Unpackable { op: "tensor", dtype: layout.dtype, shape: layout.shape });
        }
        if layout.range().is_none_or(|range| range.end > block.bytes) {
            let (shape, strides, offset) = (layout.shape, layout.strides, layout.offset);
            return Err(GraphError::OutsideStorage { shape, strides, offset, bytes: block.bytes });
        }
        Ok(())
    }

    pub(super) fn verify_node(&self, id: NodeId) -> Result<(), GraphError> {
        let node = self.node(id);
        for tensor in node.sources.iter().flatten().chain(&node.results) {
            self.known(*tensor)?;
        }
        let stem = node.op.kind().signature().stem;
        let names = node.op.kind().signature().results;
        let layouts: Vec<_> = node.sources.iter().map(|s| s.map(|t| self.tensor(t).layout)).collect();
        let expected = results(&node.op, &layouts)?;
        if node.results.len() != expected.len() {
            return Err(GraphError::ResultCount { op: stem, got: node.results.len(), want: expected.len() });
        }
        if node.op == Op::View {
            return self.verify_view(id);
        }
        for (index, (result, placed)) in node.results.iter().zip(expected).enumerate() {
            let wrong = GraphError::WrongTarget { node: id, port: names[index] };
            let result = self.tensor(*result);
            let owner = self.storage(result.storage).owner;
            if matches!(owner, Owner::Weight | Owner::Input) {
                let storage = self.storage(result.storage).name.clone();
                return Err(GraphError::ReadOnly { node: id, storage });
            }
            match placed {
                Placed::Onto(source) => {
                    let target = node.sources.get(source).copied().flatten().map(|t| self.tensor(t));
                    if target.is_none_or(|t| t.storage != result.storage || t.layout != result.layout) {
                        return Err(wrong);
                    }
                }
                Placed::Fresh(shaped) => {
                    if result.dtype() != shaped.dtype || result.shape() != shaped.shape {
                        return Err(wrong);
                    }
                    // Anywhere is fine but half over a source that is read.
                    for (at, source) in node.sources.iter().enumerate() {
                        let Some(source) = source.map(|t| self.tensor(t)) else { continue };
                        let clash = self.is_read(node, at)
                            && source.storage == result.storage
                            && source.layout.overlaps(&result.layout);
                        let in_place =
                            at == 0 && may_be_in_place(node.op.kind()) && source.layout == result.layout;
                        if clash && !in_place {
                            return Err(wrong);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn verify_view(&self, id: NodeId) -> Result<(), GraphError> {
        let node = self.node(id);
        let source = node.sources.first().copied().flatten().map(|t| self.tensor(t));
        let same =
            node.results.iter().map(|t| self.tensor(*t)).all(|result| {
                source.is_some_and(|s| s.storage == result.storage && s.version == result.version)
            });
        if same { Ok(()) } else { Err(GraphError::WrongTarget { node: id, port: "out" }) }
    }

    fn verify_versions(&self) -> Result<(), GraphError> {
        let writers = self.writers();
        for (storage, list) in self.storages.iter().zip(&writers) {
            for pair in list.windows(2) {
                if pair[0].version == pair[1].version {
                    let (first, second, version) = (pair[0].node, pair[1].node, pair[0].version);
                    let storage = storage.name.clone();
                    return Err(GraphError::VersionTwice { first, second, version, storage });
                }
            }
        }
        for (index, tensor) in self.tensors.iter().enumerate() {
            let list = &writers[tensor.storage.index()];
            let owner = self.storage(tensor.storage).owner;
            let first = u32::from(owner == Owner::Activation);
            let exists = tensor.version == 0 || list.iter().any(|write| write.version == tensor.version);
            if tensor.version < first || !exists {
                return Err(GraphError::NoVersion {
                    tensor: TensorId(index as u32),
                    version: tensor.version,
                    storage: self.storage(tensor.storage).name.clone(),
                    writes: list.len() as u32,
                });
            }
        }
        Ok(())
    }

    /// The host reads outputs after the run: no later write may change them.
    fn verify_outputs(&self) -> Result<(), GraphError> {
        let writers = self.writers();
        for (name, output) in &self.outputs {
            let tensor = self.tensor(*output);
            let later = writers[tensor.storage.index()]
                .iter()
                .find(|write| write.version > tensor.version && write.layout.overlaps(&tensor.layout));
            if let Some(write) = later {
                return Err(GraphError::OutputOverwritten { name: name.clone(), by: write.node });
            }
        }
        Ok(())
    }
}
