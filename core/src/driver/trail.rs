//! Every decision of planning as data: complete by construction, not a debug build.

use super::Decline;
use crate::graph::{NodeId, Tensor};

/// How far an attempt came.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// The rule itself declined.
    Offered,
    /// The rule matched; the driver declined.
    Matched,
    /// The driver accepted: the nodes are taken by the dispatch of this index.
    Claimed {
        /// Index into the plan's dispatches.
        dispatch: usize,
    },
    /// Accepted, and the backend built it.
    Executable {
        /// Index into the plan's dispatches.
        dispatch: usize,
    },
    /// Accepted in an earlier round and given back.
    Revoked {
        /// What failed after acceptance.
        reason: String,
    },
}

/// One root offered to one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The rule.
    pub rule: &'static str,
    /// The root.
    pub root: NodeId,
    /// Every node that the rule looked at.
    pub visited: Vec<NodeId>,
    /// Nodes of the claim; empty if the rule declined.
    pub covered: Vec<NodeId>,
    /// Tensors of the claim by port; empty if the rule declined.
    pub operands: Vec<(&'static str, Tensor)>,
    /// Refusals: one by the rule, or one per variant by the driver.
    pub declines: Vec<Decline>,
    /// How far it came.
    pub state: State,
}
