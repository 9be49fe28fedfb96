//! Why a rule did not get its way, as data.

use crate::contract::{Allowed, Attribute, Constant, Extent, Stride};
use crate::graph::{DType, NodeId, OpKind};
use serde::Serialize;

/// The reason of a refusal: what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the variant lines name the fields")]
pub enum Why {
    /// A link of the pattern is another operation.
    Op { want: OpKind, got: OpKind },
    /// A source is left out, or no node of the graph produced it.
    Missing { source: usize },
    /// A source is there though the pattern has none.
    Unexpected { source: usize },
    /// A source's bytes come from several nodes.
    ManyWriters { source: usize, writers: Vec<NodeId> },
    /// No reader of the node, or none of its overwriters, is the wanted operation; these are `found`.
    NoOperand { want: OpKind, found: Vec<OpKind> },
    /// A view between two links takes a part of the value, or another order.
    Rearranged { source: usize },
    /// Two places of the pattern need the same bytes and have different ones.
    NotSame { what: &'static str },
    /// An attribute differs from what the pattern needs.
    Attr { what: &'static str },
    /// A covered value is read outside and not produced.
    Escapes { readers: Vec<NodeId> },
    /// A covered value is an output or part of a state, and not produced.
    IsOutput { storage: String },
    /// A node is already part of an accepted claim.
    Taken { by: &'static str },
    /// Another node writes a port's bytes between the accesses that the claim merges.
    WriteBetween { writer: NodeId, port: &'static str },
    /// Another node needs a result of the claim and produces an operand of it.
    Between { through: NodeId, back: NodeId },
    /// A port is to read what the claim itself computes.
    OwnResult { port: &'static str },
    /// A covered node reads bytes from outside that no port holds.
    InputUnbound { source: usize },
    /// The claim's nodes are placed on two devices.
    Split { devices: [usize; 2] },
    /// A written port overlaps another port.
    Overlap { a: &'static str, b: &'static str },
    /// A port has no tensor.
    Unbound { port: &'static str },
    /// The claim names a port that the contract lacks.
    NoSuchPort { port: &'static str },
    /// Element type.
    DType { port: &'static str, want: &'static [DType], got: DType },
    /// Extent of a dimension; `bound` is the number that `want` stood for.
    Extent { port: &'static str, dim: usize, want: Extent, bound: u64, got: u64 },
    /// Byte stride of a dimension.
    Stride { port: &'static str, dim: usize, want: Stride, got: u64 },
    /// Byte offset.
    Alignment { port: &'static str, want: u64, got: u64 },
    /// A named extent.
    Symbol { name: &'static str, want: Allowed, got: u64 },
    /// A constant is missing or out of range.
    Constant { want: Attribute, got: Option<Constant> },
    /// A quantity derived from a layout does not fit a constant.
    Derived { name: &'static str, port: &'static str, got: u64 },
    /// The backend has no such kernel.
    NotOffered { kernel: &'static str, backend: String, reason: String },
    /// The variant is faster than exact, and exactness was asked for.
    NotExact { variant: &'static str },
    /// The rule was switched off.
    Disabled,
    /// An earlier attempt to use this claim failed after it was accepted.
    Revoked { reason: String },
}

impl Why {
    /// The reason's name, as in files.
    pub fn name(&self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            Ok(serde_json::Value::Object(fields)) => fields.into_iter().map(|(name, _)| name).collect(),
            _ => String::new(),
        }
    }

    /// The port that it is about, if it is about one.
    pub fn port(&self) -> Option<&'static str> {
        match self {
            Why::WriteBetween { port, .. }
            | Why::OwnResult { port }
            | Why::Overlap { a: port, .. }
            | Why::Unbound { port }
            | Why::NoSuchPort { port }
            | Why::DType { port, .. }
            | Why::Extent { port, .. }
            | Why::Stride { port, .. }
            | Why::Alignment { port, .. }
            | Why::Derived { port, .. } => Some(port),
            _ => None,
        }
    }
}

/// One refusal.
#[derive(Clone, Debug, PartialEq)]
pub struct Decline {
    /// The rule that was refused.
    pub rule: &'static str,
    /// The step of the rule's walk, counted from 0; `None` where the driver refused.
    pub step: Option<u32>,
    /// Where.
    pub node: NodeId,
    /// Why.
    pub why: Why,
}

impl std::fmt::Display for Decline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} declined at node {}", self.rule, self.node.0)?;
        if let Some(step) = self.step {
            write!(f, ", step {step}")?;
        }
        write!(f, ": {}", self.why)
    }
}
