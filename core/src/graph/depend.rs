//! Dependencies: who must run before whom, derived from storages, byte ranges and versions alone.

use super::{Graph, GraphError, Layout, NodeId, StorageId, Tensor, Write};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Why one node must run before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Hazard {
    /// The later node reads what the earlier one wrote.
    ReadAfterWrite,
    /// The later node overwrites what the earlier one read.
    WriteAfterRead,
    /// Both write the same bytes.
    WriteAfterWrite,
}

/// One reason for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The other node.
    pub node: NodeId,
    /// The reason.
    pub hazard: Hazard,
    /// Where they meet.
    pub storage: StorageId,
}

/// The order relation of a graph's nodes. Views have no place in it.
#[derive(Clone, Debug)]
pub struct Dependencies {
    before: Vec<Vec<Edge>>,
    after: Vec<Vec<Edge>>,
}

impl Dependencies {
    /// Derives the relation. Linear in the nodes as long as few writes share a storage.
    pub fn of(graph: &Graph) -> Self {
        let empty = vec![Vec::new(); graph.nodes.len()];
        let mut all = Dependencies { before: empty.clone(), after: empty };
        let writers = graph.writers();
        for node in graph.node_ids() {
            for tensor in graph.reads(node) {
                let Tensor { storage, layout, version } = *graph.tensor(tensor);
                let list = &writers[storage.index()];
                let seen = list.partition_point(|write| write.version <= version);
                all.reads(node, &layout, storage, &list[..seen]);
                for write in list[seen..].iter().filter(|write| write.node != node) {
                    if write.layout.overlaps(&layout) {
                        all.link(node, write.node, Hazard::WriteAfterRead, storage);
                        if write.layout.contains(&layout) {
                            break;
                        }
                    }
                }
            }
        }
        for (storage, list) in writers.iter().enumerate() {
            let storage = StorageId(storage as u32);
            for (index, later) in list.iter().enumerate() {
                // What is not overwritten is seen by whoever reads the result: so it counts as read here.
                if later.keeps {
                    all.reads(later.node, &later.layout, storage, &list[..index]);
                }
                for earlier in list[..index].iter().rev() {
                    if later.layout.overlaps(&earlier.layout) {
                        all.link(earlier.node, later.node, Hazard::WriteAfterWrite, storage);
                        if earlier.layout.contains(&later.layout) {
                            break;
                        }
                    }
                }
            }
        }
        all
    }

    /// Links a reader of these bytes to the writes that they show.
    fn reads(&mut self, reader: NodeId, layout: &Layout, storage: StorageId, seen: &[Write]) {
        for write in seen.iter().rev() {
            if write.layout.overlaps(layout) {
                self.link(write.node, reader, Hazard::ReadAfterWrite, storage);
                if write.hides(layout) {
                    break;
                }
            }
        }
    }

    fn link(&mut self, first: NodeId, second: NodeId, hazard: Hazard, storage: StorageId) {
        let edge = Edge { node: second, hazard, storage };
        if !self.after[first.index()].contains(&edge) {
            self.after[first.index()].push(edge);
            self.before[second.index()].push(Edge { node: first, hazard, storage });
        }
    }

    /// Nodes that must run before this one.
    pub fn before(&self, node: NodeId) -> &[Edge] {
        &self.before[node.index()]
    }

    /// Nodes that must run after this one.
    pub fn after(&self, node: NodeId) -> &[Edge] {
        &self.after[node.index()]
    }

    /// Nodes that read what this one wrote.
    pub fn readers(&self, node: NodeId) -> impl Iterator<Item = &Edge> + '_ {
        self.after(node).iter().filter(|edge| edge.hazard == Hazard::ReadAfterWrite)
    }

    /// All nodes in an order that the relation allows, as near to the list's own as possible.
    ///
    /// # Errors
    /// [`GraphError::Cycle`], naming a node that waits for itself.
    pub fn order(&self) -> Result<Vec<NodeId>, GraphError> {
        let count = self.before.len();
        let mut waits: Vec<usize> = self.before.iter().map(Vec::len).collect();
        let mut ready: BinaryHeap<Reverse<u32>> =
            (0..count).filter(|n| waits[*n] == 0).map(|n| Reverse(n as u32)).collect();
        let mut order = Vec::with_capacity(count);
        while let Some(Reverse(node)) = ready.pop() {
            order.push(NodeId(node));
            for edge in &self.after[node as usize] {
                let left = &mut waits[edge.node.index()];
                *left -= 1;
                if *left == 0 {
                    ready.push(Reverse(edge.node.0));
                }
            }
        }
        match waits.iter().position(|left| *left > 0) {
            Some(stuck) => Err(GraphError::Cycle { node: NodeId(stuck as u32) }),
            None => Ok(order),
        }
    }
}
