//! Plans as files: the stable form of a plan as JSON, described in `docs/plans.md`.

use super::{Binding, Dispatch, Placement, Plan, PlanFileError, Price, Transfer};
use crate::driver::{Attempt, Decline, State};
use crate::graph::file::GraphRecord;
use crate::graph::{Dependencies, Graph, NodeId, Tensor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What the field `format` of a plan file says.
pub const FORMAT: &str = "weft-plan";
/// The version that is written and read.
pub const VERSION: u64 = 1;

/// The longest plan file that is read, in bytes.
pub const MOST_BYTES: u64 = 256 << 20;

/// A plan as a file holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u64,
    /// The plan hash, sixteen hexadecimal digits.
    pub hash: String,
    /// Counts, as [`super::Census`].
    pub census: Value,
    /// Devices, the preferred first.
    pub devices: Vec<DeviceRecord>,
    /// Launches in order.
    pub dispatches: Vec<DispatchRecord>,
    /// Runs of launches on one device.
    pub splits: Vec<SplitRecord>,
    /// Copies after the last split.
    pub last_copies: Vec<CopyRecord>,
    /// By node its dispatch; null for a view.
    pub placements: Vec<Option<usize>>,
    /// Pairs of nodes of which the second reads what the first wrote.
    pub edges: Vec<[u32; 2]>,
    /// Every decision, in order.
    pub trail: Vec<AttemptRecord>,
    /// Claims given back after they failed to build.
    pub revoked: Vec<RevokedRecord>,
    /// The graph, as in a graph file.
    pub graph: GraphRecord,
}

/// One device's part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceRecord {
    /// The backend's name.
    pub name: String,
    /// Bytes of activations at their peak.
    pub arena_bytes: u64,
    /// Bytes of inputs.
    pub input_bytes: u64,
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DispatchRecord {
    /// The kernel's stem.
    pub kernel: String,
    /// Which implementation.
    pub variant: String,
    /// The rule that proposed it.
    pub rule: String,
    /// Index of the device.
    pub device: usize,
    /// Launches of one phase do not depend on each other.
    pub phase: u32,
    /// Nodes that it computes.
    pub nodes: Vec<u32>,
    /// Tensors by port.
    pub bindings: Vec<BindingRecord>,
    /// Constants from attributes and layouts, by name.
    pub constants: Map<String, Value>,
    /// Bytes moved.
    pub bytes: u64,
    /// Floating-point operations.
    pub flops: u64,
    /// Bytes that its nodes would move one by one, each in a launch of its own.
    #[serde(default)]
    pub bytes_one_by_one: u64,
}

/// A tensor at a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BindingRecord {
    /// The port.
    pub port: String,
    /// `read`, `write` or `update`; empty where only a rule has named it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub access: String,
    /// Index of the storage.
    pub storage: u32,
    /// Element type.
    pub dtype: String,
    /// Extents, innermost first.
    pub shape: [u64; 4],
    /// Strides in bytes.
    pub strides: [u64; 4],
    /// Bytes from the storage's start.
    pub offset: u64,
    /// Which writes it sees.
    pub version: u32,
}

/// A run of launches on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitRecord {
    /// Index of the device.
    pub device: usize,
    /// First dispatch.
    pub first: usize,
    /// One past the last dispatch.
    pub end: usize,
    /// Why it begins there.
    pub why: Vec<String>,
    /// Copies before it.
    pub copies: Vec<CopyRecord>,
}

/// Bytes that cross from one device to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyRecord {
    /// Index of the storage.
    pub storage: u32,
    /// How many bytes.
    pub bytes: u64,
    /// From this device.
    pub from: usize,
    /// To this one.
    pub to: usize,
}

/// One root offered to one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptRecord {
    /// The rule.
    pub rule: String,
    /// The root.
    pub root: u32,
    /// `offered`, `matched`, `claimed`, `executable` or `revoked`.
    pub state: String,
    /// The dispatch that it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatch: Option<usize>,
    /// Why it was given back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Nodes that the rule looked at.
    pub visited: Vec<u32>,
    /// Nodes of its claim.
    pub covered: Vec<u32>,
    /// Tensors of its claim.
    pub operands: Vec<BindingRecord>,
    /// Refusals, in order.
    pub declines: Vec<DeclineRecord>,
}

/// One refusal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeclineRecord {
    /// Where.
    pub node: u32,
    /// The step of the rule's walk; left out where the driver refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The reason's name, and what was expected and found.
    pub why: Value,
    /// The same in words.
    pub text: String,
}

/// A claim given back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RevokedRecord {
    /// The rule.
    pub rule: String,
    /// Covered nodes.
    pub nodes: Vec<u32>,
    /// The variant that failed.
    pub variant: String,
    /// The device on which it failed.
    pub device: String,
    /// Why.
    pub reason: String,
}

impl PlanRecord {
    /// The plan of a file's bytes. Its indices are not checked: whoever follows one looks whether it exists.
    ///
    /// # Errors
    /// The bytes are no plan file of this version.
    pub fn from_json(bytes: &[u8]) -> Result<Self, PlanFileError> {
        if bytes.len() as u64 > MOST_BYTES {
            return Err(PlanFileError::TooLarge { bytes: bytes.len() as u64, most: MOST_BYTES });
        }
        let value: Value =
            serde_json::from_slice(bytes).map_err(|error| PlanFileError::Form { why: error.to_string() })?;
        let format = value["format"].as_str().unwrap_or_default();
        if format != FORMAT {
            return Err(PlanFileError::Format { got: format.chars().take(80).collect(), want: FORMAT });
        }
        match value["version"].as_u64() {
            Some(VERSION) => {}
            got => return Err(PlanFileError::Version { got: got.unwrap_or(0), want: VERSION }),
        }
        serde_json::from_value(value).map_err(|error| PlanFileError::Form { why: error.to_string() })
    }
}

impl From<&Plan> for PlanRecord {
    fn from(plan: &Plan) -> Self {
        let edges = edges(plan);
        let split = |split: &super::Split| SplitRecord {
            device: split.device,
            first: split.first,
            end: split.end,
            why: plan.why_split(split),
            copies: split.copies.iter().map(copy).collect(),
        };
        let device = |device: &super::DevicePart| DeviceRecord {
            name: device.name.clone(),
            arena_bytes: device.arena_bytes,
            input_bytes: device.input_bytes,
        };
        let placement = |placement: &Placement| match placement {
            Placement::Dispatch(index) => Some(*index),
            Placement::Alias => None,
        };
        let revoked = |failed: &crate::driver::Forbidden| RevokedRecord {
            rule: failed.rule.to_owned(),
            nodes: numbers(&failed.nodes),
            variant: failed.variant.to_owned(),
            device: failed.device.clone(),
            reason: failed.reason.clone(),
        };
        PlanRecord {
            format: FORMAT.to_owned(),
            version: VERSION,
            hash: format!("{:016x}", plan.hash),
            census: serde_json::to_value(plan.census()).unwrap_or_default(),
            devices: plan.devices.iter().map(device).collect(),
            dispatches: plan.dispatches.iter().map(|d| dispatch(&plan.graph, d)).collect(),
            splits: plan.splits.iter().map(split).collect(),
            last_copies: plan.last_copies.iter().map(copy).collect(),
            placements: plan.placements.iter().map(placement).collect(),
            edges,
            trail: plan.trail.iter().map(attempt).collect(),
            revoked: plan.revoked.iter().map(revoked).collect(),
            graph: GraphRecord::from(&*plan.graph),
        }
    }
}

fn numbers(nodes: &[NodeId]) -> Vec<u32> {
    nodes.iter().map(|node| node.0).collect()
}

/// Who reads what whom wrote, each pair once.
fn edges(plan: &Plan) -> Vec<[u32; 2]> {
    let dependencies = Dependencies::of(&plan.graph);
    let mut all: Vec<[u32; 2]> = plan
        .graph
        .node_ids()
        .flat_map(|node| dependencies.readers(node).map(move |edge| [node.0, edge.node.0]))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn copy(transfer: &Transfer) -> CopyRecord {
    let Transfer { storage, layout, from, to } = *transfer;
    CopyRecord { storage: storage.0, bytes: layout.bytes(), from, to }
}

fn bound(port: &str, access: &str, tensor: &Tensor) -> BindingRecord {
    BindingRecord {
        port: port.to_owned(),
        access: access.to_owned(),
        storage: tensor.storage.0,
        dtype: tensor.dtype().name().to_owned(),
        shape: tensor.layout.shape,
        strides: tensor.layout.strides,
        offset: tensor.layout.offset,
        version: tensor.version,
    }
}

fn dispatch(graph: &Graph, dispatch: &Dispatch) -> DispatchRecord {
    let constants = match serde_json::to_value(&dispatch.constants) {
        Ok(Value::Object(constants)) => constants,
        _ => Map::new(),
    };
    let binding = |b: &Binding| bound(b.port, b.access.name(), &b.tensor);
    DispatchRecord {
        kernel: dispatch.kernel.to_owned(),
        variant: dispatch.variant.to_owned(),
        rule: dispatch.rule.to_owned(),
        device: dispatch.device,
        phase: dispatch.phase,
        nodes: numbers(&dispatch.nodes),
        bindings: dispatch.bindings.iter().flatten().map(binding).collect(),
        constants,
        bytes: dispatch.cost.bytes,
        flops: dispatch.cost.flops,
        bytes_one_by_one: Price::one_by_one(graph, &dispatch.nodes).bytes,
    }
}

fn attempt(attempt: &Attempt) -> AttemptRecord {
    let (state, dispatch, reason) = match &attempt.state {
        State::Offered => ("offered", None, None),
        State::Matched => ("matched", None, None),
        State::Claimed { dispatch } => ("claimed", Some(*dispatch), None),
        State::Executable { dispatch } => ("executable", Some(*dispatch), None),
        State::Revoked { reason } => ("revoked", None, Some(reason.clone())),
    };
    let decline = |decline: &Decline| DeclineRecord {
        node: decline.node.0,
        step: decline.step,
        why: serde_json::to_value(&decline.why).unwrap_or_default(),
        text: decline.why.to_string(),
    };
    AttemptRecord {
        rule: attempt.rule.to_owned(),
        root: attempt.root.0,
        state: state.to_owned(),
        dispatch,
        reason,
        visited: numbers(&attempt.visited),
        covered: numbers(&attempt.covered),
        operands: attempt.operands.iter().map(|(port, tensor)| bound(port, "", tensor)).collect(),
        declines: attempt.declines.iter().map(decline).collect(),
    }
}
