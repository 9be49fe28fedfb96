//! Plans for people: counts, and the whole story of a node.

use super::{Placement, Plan};
use crate::driver::{Attempt, State};
use crate::graph::{NodeId, Owner};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Census {
    /// Nodes of the graph that compute.
    pub nodes: usize,
    /// Views, elided as aliases.
    pub aliases: usize,
    /// Launches.
    pub dispatches: usize,
    /// Groups of launches between barriers.
    pub phases: usize,
    /// Runs of launches on one device.
    pub splits: usize,
    /// Nodes off the preferred device.
    pub off_device: usize,
    /// Nodes that a fused rule covers.
    pub fused: usize,
    /// Accepted claims per rule.
    pub rules: BTreeMap<&'static str, usize>,
    /// Launches per kernel and variant.
    pub kernels: BTreeMap<String, usize>,
    /// Claims given back after they failed to build.
    pub revoked: usize,
    /// Bytes of activations at their peak, per device.
    pub arena_bytes: Vec<u64>,
    /// Bytes of weights that are read.
    pub weight_bytes: u64,
    /// Bytes of states.
    pub state_bytes: u64,
    /// Bytes copied between devices per run.
    pub copied_bytes: u64,
    /// The plan hash.
    pub hash: String,
}

impl Plan {
    /// Counts of this plan.
    pub fn census(&self) -> Census {
        let mut rules = BTreeMap::new();
        let mut kernels = BTreeMap::new();
        for dispatch in &self.dispatches {
            *rules.entry(dispatch.rule).or_default() += 1;
            *kernels.entry(format!("{}/{}", dispatch.kernel, dispatch.variant)).or_default() += 1;
        }
        let fused = self.dispatches.iter().filter(|d| d.rule != "single");
        let copies = self.splits.iter().flat_map(|s| &s.copies).chain(&self.last_copies);
        let owned = |owner: Owner| {
            self.graph.storages.iter().filter(move |s| s.owner == owner).map(|s| s.bytes).sum()
        };
        Census {
            nodes: self.placements.iter().filter(|p| **p != Placement::Alias).count(),
            aliases: self.placements.iter().filter(|p| **p == Placement::Alias).count(),
            dispatches: self.dispatches.len(),
            phases: self.dispatches.last().map_or(0, |d| d.phase as usize + 1),
            splits: self.splits.len(),
            off_device: self.dispatches.iter().filter(|d| d.device != 0).map(|d| d.nodes.len()).sum(),
            fused: fused.map(|d| d.nodes.len()).sum(),
            rules,
            kernels,
            revoked: self.revoked.len(),
            arena_bytes: self.devices.iter().map(|d| d.arena_bytes).collect(),
            weight_bytes: owned(Owner::Weight),
            state_bytes: owned(Owner::State),
            copied_bytes: copies.map(|c| c.layout.bytes()).sum(),
            hash: format!("{:016x}", self.hash),
        }
    }

    /// The attempts whose rule looked at a node, in order.
    pub fn attempts(&self, node: NodeId) -> impl Iterator<Item = &Attempt> + '_ {
        self.trail.iter().filter(move |attempt| attempt.visited.contains(&node))
    }

    /// Nodes that a selector means: an index, a label, or the stem of an operation.
    pub fn select(&self, selector: &str) -> Vec<NodeId> {
        let by_index = selector.parse::<u32>().ok().map(NodeId);
        self.graph
            .node_ids()
            .filter(|id| {
                let node = self.graph.node(*id);
                by_index == Some(*id) || node.label == selector || node.op.kind().signature().stem == selector
            })
            .collect()
    }

    /// A node's story: operands with strides, what became of it, and every rule that looked at it, a line each.
    pub fn explain(&self, node: NodeId) -> String {
        let mut text = format!("{}\n", self.graph.describe(node));
        let it = self.graph.node(node);
        let signature = it.op.kind().signature();
        let sources = signature.sources.iter().map(|p| p.name).zip(it.sources.iter().copied());
        let results = signature.results.iter().copied().zip(it.results.iter().map(|t| Some(*t)));
        for (name, tensor) in sources.chain(results) {
            let Some(tensor) = tensor.map(|t| self.graph.tensor(t)) else { continue };
            let layout = tensor.layout;
            let storage = self.graph.storage(tensor.storage);
            let label =
                if storage.name.is_empty() { format!("#{}", tensor.storage.0) } else { storage.name.clone() };
            let _ = writeln!(
                text,
                "  {name}: {} {:?} strides {:?} bytes, offset {}, storage {label} v{}",
                layout.dtype, layout.shape, layout.strides, layout.offset, tensor.version
            );
        }
        match self.placements.get(node.index()) {
            Some(Placement::Dispatch(index)) => {
                let d = &self.dispatches[*index];
                let _ = writeln!(
                    text,
                    "  runs in dispatch {index}: {}/{} on {} by rule {}, phase {}, with nodes {:?}",
                    d.kernel,
                    d.variant,
                    self.devices[d.device].name,
                    d.rule,
                    d.phase,
                    d.nodes.iter().map(|n| n.0).collect::<Vec<_>>()
                );
            }
            Some(Placement::Alias) => text.push_str("  is a view: no work\n"),
            None => text.push_str("  is not a node of this graph\n"),
        }
        for attempt in self.attempts(node) {
            let state = match &attempt.state {
                State::Offered => "declined".to_owned(),
                State::Matched => "matched, not claimed".to_owned(),
                State::Claimed { dispatch } => format!("claimed by dispatch {dispatch}"),
                State::Executable { dispatch } => format!("claimed and built as dispatch {dispatch}"),
                State::Revoked { reason } => format!("claimed, then revoked: {reason}"),
            };
            let _ = write!(text, "  {} at node {}: {state}", attempt.rule, attempt.root.0);
            for decline in &attempt.declines {
                let step = decline.step.map_or(String::new(), |s| format!(" step {s}"));
                let _ = write!(text, "; node {}{step}: {:?}", decline.node.0, decline.why);
            }
            text.push('\n');
        }
        text
    }
}
