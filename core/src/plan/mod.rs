//! Plans: immutable, hashable, serialisable, explainable orders of launches.

mod build;
mod checked;
mod compare;
mod cost;
mod dot;
mod error;
mod explain;
mod hash;
mod launches;
mod place;
mod price;
mod record;
mod schedule;
mod splits;
mod tally;
mod transfer;

pub use build::{build, build_with};
pub use checked::{Checked, NotFinite};
pub use compare::{Change, Comparison};
pub use cost::Cost;
pub use error::{PlanError, PlanFileError, Uncovered};
pub use explain::{Census, select, story};
pub use price::{Price, Rates};
pub use record::{
    AttemptRecord, BindingRecord, CopyRecord, DeclineRecord, DeviceRecord, DispatchRecord, FORMAT,
    MOST_BYTES, PlanRecord, RevokedRecord, SplitRecord, VERSION,
};
pub use tally::Tally;

use crate::contract::{Access, Constants};
use crate::driver::{Attempt, Forbidden};
use crate::graph::{Graph, Layout, NodeId, StorageId, Tensor};
use std::sync::Arc;

/// A tensor at a port of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binding {
    /// The port.
    pub port: &'static str,
    /// How its bytes are used.
    pub access: Access,
    /// The tensor.
    pub tensor: Tensor,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// The kernel's stem.
    pub kernel: &'static str,
    /// Which implementation.
    pub variant: &'static str,
    /// The rule that proposed it.
    pub rule: &'static str,
    /// Index of the device.
    pub device: usize,
    /// Nodes that it computes.
    pub nodes: Vec<NodeId>,
    /// Tensors, in the order of the contract's ports; `None` where an optional port is unbound.
    pub bindings: Vec<Option<Binding>>,
    /// Constants from attributes and layouts.
    pub constants: Constants,
    /// Dispatches of one phase do not depend on each other; a barrier stands between phases.
    pub phase: u32,
    /// Bytes moved and arithmetic done.
    pub cost: Cost,
}

/// Bytes that cross from one device to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// The storage.
    pub storage: StorageId,
    /// Which of its bytes.
    pub layout: Layout,
    /// From this device.
    pub from: usize,
    /// To this one.
    pub to: usize,
}

/// Neighbouring dispatches on one device, with the copies that precede them.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Index of the device.
    pub device: usize,
    /// First dispatch.
    pub first: usize,
    /// One past the last dispatch.
    pub end: usize,
    /// Copies before the first dispatch.
    pub copies: Vec<Transfer>,
}

/// Where a storage lies on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A buffer of its own that outlives the plan: weights and states.
    Own,
    /// In the block that each submission owns, at this offset: inputs.
    Input(u64),
    /// In the device's arena, at this offset: activations.
    Arena(u64),
}

/// One device's part of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct DevicePart {
    /// The backend's name.
    pub name: String,
    /// Bytes of activations at their peak.
    pub arena_bytes: u64,
    /// Bytes of inputs.
    pub input_bytes: u64,
    /// Place of each storage, by index; `None` if the device does not touch it.
    pub places: Vec<Option<Place>>,
}

/// What became of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Computed by the dispatch of this index.
    Dispatch(usize),
    /// A view: no work.
    Alias,
}

/// An immutable order of launches for one graph.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The graph.
    pub graph: Arc<Graph>,
    /// Devices, in the order of preference.
    pub devices: Vec<DevicePart>,
    /// Launches in order.
    pub dispatches: Vec<Dispatch>,
    /// Runs of launches on one device.
    pub splits: Vec<Split>,
    /// Copies after the last split, which bring states back to the first device.
    pub last_copies: Vec<Transfer>,
    /// Device that holds each output at the end, in the graph's order.
    pub output_devices: Vec<usize>,
    /// What became of each node.
    pub placements: Vec<Placement>,
    /// Every decision that led here.
    pub trail: Vec<Attempt>,
    /// Claims given back after an earlier round failed to build them.
    pub revoked: Vec<Forbidden>,
    /// Equal for equal launches, on every machine and in every run.
    pub hash: u64,
}
