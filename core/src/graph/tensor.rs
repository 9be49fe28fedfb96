//! Storages, tensors and nodes.

use super::{DType, Layout, Op};
use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
id!(
    /// A storage of a graph.
    StorageId
);
id!(
    /// A tensor of a graph.
    TensorId
);
id!(
    /// A node of a graph.
    NodeId
);

/// Who fills a storage and how long it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// Loaded once, never written by a graph.
    Weight,
    /// Lives across runs: key/value caches, recurrent states.
    State,
    /// Written by the host before each run.
    Input,
    /// Written by the graph, dead after the run unless it is an output.
    Activation,
}

/// A block of bytes with an owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    /// Name, unique among weights, states and inputs.
    pub name: String,
    /// Who fills it.
    pub owner: Owner,
    /// Size in bytes.
    pub bytes: u64,
}

/// A layout on a storage, at a version.
///
/// Versions count the writes to a storage in program order; version 0 is what the storage holds before the graph runs. A
/// tensor of version v sees the writes 1..=v and none after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tensor {
    /// The storage.
    pub storage: StorageId,
    /// Where its elements lie.
    pub layout: Layout,
    /// Which writes it sees.
    pub version: u32,
}

impl Tensor {
    /// Element type.
    pub const fn dtype(&self) -> DType {
        self.layout.dtype
    }

    /// Extents, innermost first.
    pub const fn shape(&self) -> [u64; 4] {
        self.layout.shape
    }
}

/// One operation with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What is computed.
    pub op: Op,
    /// Sources in the order of the operation's signature; `None` where an optional one is left out.
    pub sources: Vec<Option<TensorId>>,
    /// Results in the order of the operation's signature.
    pub results: Vec<TensorId>,
    /// A name for people; empty if none was given.
    pub label: String,
}
