//! A part of a graph as a graph of its own, to be run alone.

use super::{Graph, GraphError, Node, NodeId, Op, Owner, Storage, StorageId, Tensor, TensorId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Nodes of a graph that were cut out of it.
#[derive(Clone, Debug)]
pub struct Part {
    /// The nodes with the views that they read through. What they read of others is an input, or a state where they write
    /// there too; weights and states stay what they are.
    pub graph: Graph,
    /// For each storage of the part the one that it was.
    pub storages: Vec<StorageId>,
    /// For each node of the part the one that it was.
    pub nodes: Vec<NodeId>,
    /// Tensors of the whole graph with those of the part.
    tensors: HashMap<TensorId, TensorId>,
}

impl Part {
    /// A tensor of the whole graph, if the part has it.
    pub fn tensor(&self, whole: TensorId) -> Option<TensorId> {
        self.tensors.get(&whole).copied()
    }

    /// Storages that hold something before the part runs, with those that they were.
    pub fn given(&self) -> impl Iterator<Item = (StorageId, StorageId)> + '_ {
        let outside = |(index, old): (usize, &StorageId)| {
            let id = StorageId(index as u32);
            (self.graph.storage(id).owner != Owner::Activation).then_some((id, *old))
        };
        self.storages.iter().enumerate().filter_map(outside)
    }
}

impl Graph {
    /// Cuts nodes out. `outputs` are tensors that they make, which the part gives back under the names of their nodes.
    ///
    /// # Errors
    /// The part is no graph: it has neither outputs nor states.
    pub fn part(&self, nodes: &[NodeId], outputs: &[TensorId]) -> Result<Part, GraphError> {
        let makers = self.makers();
        let mut taken: BTreeSet<NodeId> = nodes.iter().copied().collect();
        let mut open: Vec<NodeId> = nodes.to_vec();
        while let Some(node) = open.pop() {
            for source in self.node(node).sources.iter().flatten() {
                let view = makers.get(source).filter(|maker| self.node(**maker).op == Op::View);
                open.extend(view.filter(|view| taken.insert(**view)));
            }
        }
        let versions = self.versions(&taken);
        let mut part = Part {
            graph: Graph::default(),
            storages: Vec::new(),
            nodes: taken.iter().copied().collect(),
            tensors: HashMap::new(),
        };
        let mut homes = HashMap::new();
        for node in &taken {
            let Node { op, sources, results, label } = self.node(*node);
            let mut moved = |tensor: TensorId| self.moved(&mut part, &mut homes, &versions, tensor);
            let sources = sources.iter().map(|source| source.map(&mut moved)).collect();
            let results = results.iter().map(|result| moved(*result)).collect();
            part.graph.nodes.push(Node { op: *op, sources, results, label: label.clone() });
        }
        self.name(&mut part, &taken, &makers);
        for (index, tensor) in outputs.iter().enumerate() {
            let (Some(new), Some(maker)) = (part.tensor(*tensor), makers.get(tensor)) else { continue };
            part.graph.outputs.push((format!("{index}: {}", self.describe(*maker)), new));
        }
        part.graph.verify()?;
        Ok(part)
    }

    /// Who makes each tensor, views included.
    fn makers(&self) -> HashMap<TensorId, NodeId> {
        let of = |node: NodeId| self.node(node).results.iter().map(move |result| (*result, node));
        self.node_ids().flat_map(of).collect()
    }

    /// The versions of each storage that these nodes write, in order.
    fn versions(&self, nodes: &BTreeSet<NodeId>) -> BTreeMap<StorageId, Vec<u32>> {
        let mut versions: BTreeMap<StorageId, Vec<u32>> = BTreeMap::new();
        for tensor in nodes.iter().flat_map(|node| self.writes(*node)) {
            let Tensor { storage, version, .. } = *self.tensor(tensor);
            versions.entry(storage).or_default().push(version);
        }
        versions.values_mut().for_each(|list| list.sort_unstable());
        versions
    }

    fn moved(
        &self,
        part: &mut Part,
        homes: &mut HashMap<StorageId, StorageId>,
        versions: &BTreeMap<StorageId, Vec<u32>>,
        tensor: TensorId,
    ) -> TensorId {
        if let Some(known) = part.tensor(tensor) {
            return known;
        }
        let old = *self.tensor(tensor);
        let storage = *homes.entry(old.storage).or_insert_with(|| {
            part.graph.storages.push(self.storage(old.storage).clone());
            part.storages.push(old.storage);
            StorageId(part.storages.len() as u32 - 1)
        });
        let writes = versions.get(&old.storage).map_or(&[][..], Vec::as_slice);
        let version = writes.partition_point(|version| *version <= old.version) as u32;
        part.graph.tensors.push(Tensor { storage, version, ..old });
        let new = TensorId(part.graph.tensors.len() as u32 - 1);
        part.tensors.insert(tensor, new);
        new
    }

    /// Says who fills the storages of a part, and names those that came of nodes outside.
    fn name(&self, part: &mut Part, taken: &BTreeSet<NodeId>, makers: &HashMap<TensorId, NodeId>) {
        let written: BTreeSet<StorageId> =
            taken.iter().flat_map(|node| self.writes(*node)).map(|t| self.tensor(t).storage).collect();
        let made: BTreeSet<TensorId> =
            taken.iter().flat_map(|node| self.node(*node).results.iter().copied()).collect();
        let outside = |tensor: &TensorId| !made.contains(tensor);
        let mut read: BTreeMap<StorageId, TensorId> = BTreeMap::new();
        for node in taken {
            let kept = self.keeps(*node).then(|| self.node(*node).sources.iter().flatten().copied());
            let sources = self.node(*node).sources.iter().flatten().copied();
            for tensor in sources.chain(kept.into_iter().flatten()).filter(outside) {
                read.entry(self.tensor(tensor).storage).or_insert(tensor);
            }
        }
        for (storage, old) in part.graph.storages.iter_mut().zip(&part.storages) {
            let Some(tensor) = read.get(old).filter(|_| storage.owner == Owner::Activation) else { continue };
            storage.owner = if written.contains(old) { Owner::State } else { Owner::Input };
            let maker = makers.get(tensor).map_or(String::new(), |maker| self.describe(*maker));
            *storage = Storage { name: format!("{maker} in storage {}", old.0), ..storage.clone() };
        }
    }
}
