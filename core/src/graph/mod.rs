//! Graphs of plain operations over storages.
//!
//! A [`Graph`] is built by [`GraphBuilder`] or read from a file, and is valid or rejected by [`Graph::verify`]. Order is
//! never that of the node list: it follows from which byte ranges of which storages nodes read and write, at which
//! version ([`Dependencies`]).

mod build;
mod depend;
mod dtype;
mod error;
pub mod file;
pub(crate) mod float;
mod layout;
mod op;
mod part;
mod shapes;
mod tensor;
mod verify;
mod view;

pub use build::GraphBuilder;
pub(crate) use build::Write;
pub use depend::{Dependencies, Edge, Hazard};
pub use dtype::{DType, TYPES, TypeRow};
pub use error::GraphError;
pub use layout::Layout;
pub use op::{
    BinaryKind, HeadMap, L2Form, Op, OpKind, Rope, RopeKind, Signature, SourcePort, Triangle, UnaryKind, Use,
};
pub use part::Part;
pub use shapes::{Placed, Shaped, may_be_in_place, results};
pub use tensor::{Node, NodeId, Owner, Storage, StorageId, Tensor, TensorId};

/// A graph of plain operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// Blocks of bytes.
    pub storages: Vec<Storage>,
    /// Layouts on storages.
    pub tensors: Vec<Tensor>,
    /// Operations.
    pub nodes: Vec<Node>,
    /// What the host wants back, with a name each.
    pub outputs: Vec<(String, TensorId)>,
}

impl Graph {
    /// A tensor by id. The id must be of this graph.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// A node by id. The id must be of this graph.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// A storage by id. The id must be of this graph.
    pub fn storage(&self, id: StorageId) -> &Storage {
        &self.storages[id.index()]
    }

    /// All node ids in the order of the list.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The tensor of an output name.
    pub fn output(&self, name: &str) -> Option<TensorId> {
        self.outputs.iter().find(|(n, _)| n == name).map(|(_, t)| *t)
    }

    /// The storage of a name.
    pub fn storage_named(&self, name: &str) -> Option<StorageId> {
        self.storages.iter().position(|s| s.name == name).map(|i| StorageId(i as u32))
    }

    /// The tensors whose bytes a node reads.
    pub fn reads(&self, id: NodeId) -> impl Iterator<Item = TensorId> + '_ {
        let node = self.node(id);
        let ports = node.op.kind().signature().sources;
        node.sources
            .iter()
            .zip(ports)
            .filter(|(_, port)| port.usage == Use::Read)
            .filter_map(|(source, _)| *source)
    }

    /// The tensors whose bytes a node writes. A view writes nothing.
    pub fn writes(&self, id: NodeId) -> impl Iterator<Item = TensorId> + '_ {
        let node = self.node(id);
        node.results.iter().filter(|_| node.op != Op::View).copied()
    }

    /// A node's label, or its operation and index.
    pub fn describe(&self, id: NodeId) -> String {
        let node = self.node(id);
        let stem = node.op.kind().signature().stem;
        if node.label.is_empty() {
            format!("{stem}#{}", id.0)
        } else {
            format!("{stem}#{} ({})", id.0, node.label)
        }
    }
}
