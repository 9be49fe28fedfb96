//! Graphs whose order is that of their nodes, as most engines write them.

use crate::graph::{Graph, NodeId, Op, Owner, Tensor, TensorId, Use};
use std::collections::HashMap;

/// Gives every use of a tensor the version that its bytes have at that point of the list: a source sees all writes of
/// earlier nodes, a result is a new one. A source that is no more than the place of the node's own result sees that.
pub(super) fn in_program_order(graph: &mut Graph) {
    let places = std::mem::take(&mut graph.tensors);
    let mut made = Made { tensors: Vec::with_capacity(places.len()), known: HashMap::new() };
    let mut writes = vec![0u32; graph.storages.len()];
    for tensor in &places {
        if graph.storages[tensor.storage.index()].owner != Owner::Activation {
            made.at(*tensor, 0);
        }
    }
    for node in &mut graph.nodes {
        let ports = node.op.kind().signature().sources;
        let own = |index: usize, source: TensorId, writes: &[u32]| {
            let usage = ports.get(index).map(|port| port.usage);
            // What a scatter keeps are the bytes before it, if there are any.
            let fresh = writes[places[source.index()].storage.index()] == 0;
            node.op != Op::View
                && node.results.contains(&source)
                && (usage == Some(Use::Shape) || usage == Some(Use::Keep) && fresh)
        };
        let before: Vec<Option<TensorId>> = node
            .sources
            .iter()
            .enumerate()
            .map(|(index, source)| {
                let source = source.filter(|source| !own(index, *source, &writes))?;
                let place = places[source.index()];
                Some(made.at(place, writes[place.storage.index()]))
            })
            .collect();
        let old = node.results.clone();
        for result in &mut node.results {
            let place = places[result.index()];
            let version = &mut writes[place.storage.index()];
            *version += u32::from(node.op != Op::View);
            *result = made.at(place, *version);
        }
        for (source, before) in node.sources.iter_mut().zip(before) {
            let result = source.and_then(|source| old.iter().position(|result| *result == source));
            *source = before.or(source.and(result.map(|at| node.results[at])));
        }
    }
    for (_, output) in &mut graph.outputs {
        let place = places[output.index()];
        *output = made.at(place, writes[place.storage.index()]);
    }
    graph.tensors = made.tensors;
}

struct Made {
    tensors: Vec<Tensor>,
    known: HashMap<Tensor, TensorId>,
}

impl Made {
    fn at(&mut self, place: Tensor, version: u32) -> TensorId {
        let tensor = Tensor { version, ..place };
        *self.known.entry(tensor).or_insert_with(|| {
            self.tensors.push(tensor);
            TensorId(self.tensors.len() as u32 - 1)
        })
    }
}

impl Graph {
    /// Rewrites each copy that names its own result as its target, as casts of other engines do, as the cast that it is.
    /// Gives these nodes.
    pub fn normalise(&mut self) -> Vec<NodeId> {
        let ids: Vec<NodeId> = self.node_ids().collect();
        ids.into_iter().filter(|id| self.own_copy_as_cast(*id)).collect()
    }

    fn own_copy_as_cast(&mut self, id: NodeId) -> bool {
        let node = self.node(id);
        let (Op::Copy, &[Some(x), Some(target)], &[result]) =
            (node.op, node.sources.as_slice(), node.results.as_slice())
        else {
            return false;
        };
        let (x, made) = (*self.tensor(x), *self.tensor(result));
        if *self.tensor(target) != made || (x.storage == made.storage && x.layout.overlaps(&made.layout)) {
            return false;
        }
        // The same elements in the result's shape; a cast wants both alike.
        let Some(layout) =
            (if x.shape() == made.shape() { Some(x.layout) } else { x.layout.reshaped(made.shape()) })
        else {
            return false;
        };
        let source = match layout == x.layout {
            true => node.sources[0],
            false => {
                self.tensors.push(Tensor { layout, ..x });
                Some(TensorId(self.tensors.len() as u32 - 1))
            }
        };
        let node = &mut self.nodes[id.index()];
        (node.op, node.sources) = (Op::Cast { to: made.dtype() }, vec![source]);
        true
    }
}
