//! Plans for people: counts, and the whole story of a node.

use super::{Placement, Plan, Price, Rates, Uncovered};
use crate::driver::{Attempt, Decline, State, Why};
use crate::graph::{Graph, Layout, NodeId, Owner, TensorId};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
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

    /// Nodes that a selector means: an index, a label, the stem of an operation, or those that make or take a tensor: `t`
    /// and its index, or the name of an output, weight, state or input.
    pub fn select(&self, selector: &str) -> Vec<NodeId> {
        select(&self.graph, selector)
    }

    /// A node's story: operands with strides, what became of it, and every rule that looked at it, a line each.
    pub fn explain(&self, node: NodeId) -> String {
        let mut text = operands(&self.graph, node);
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
                self.tell_price(*index, &mut text);
            }
            Some(Placement::Alias) => text.push_str("  is a view: no work\n"),
            None => text.push_str("  is not a node of this graph\n"),
        }
        for attempt in self.attempts(node) {
            tell(&self.graph, attempt, &mut text);
            self.tell_lost(attempt, &mut text);
            text.push('\n');
        }
        text
    }

    /// What a dispatch costs, and its nodes one by one.
    fn tell_price(&self, dispatch: usize, text: &mut String) {
        let d = &self.dispatches[dispatch];
        let rates = Rates::nominal(&self.devices[d.device].name);
        let _ = write!(text, "  moves {}", self.price(dispatch).words(&rates));
        if d.nodes.len() > 1 {
            let alone = Price::one_by_one(&self.graph, &d.nodes).words(&rates);
            let _ = write!(text, "; its {} nodes one by one {alone}", d.nodes.len());
        }
        let _ = writeln!(text, " ({rates})");
    }

    /// What a claim would have cost that matched and is not there, and its nodes as they run.
    fn tell_lost(&self, attempt: &Attempt, text: &mut String) {
        let lost = matches!(attempt.state, State::Matched | State::Revoked { .. });
        let Some(claim) = Price::of_claim(attempt).filter(|_| lost) else { return };
        let rates = Rates::nominal(self.devices.first().map_or("", |device| &device.name));
        let (claim, now) = (claim.words(&rates), self.price_as_run(&attempt.covered).words(&rates));
        let _ = write!(text, "; it would move {claim}; as its nodes run they move {now}");
    }
}

/// Nodes that a selector means, as [`Plan::select`], in a graph without a plan.
pub fn select(graph: &Graph, selector: &str) -> Vec<NodeId> {
    let by_index = selector.parse::<u32>().ok().map(NodeId);
    let tensors = tensors(graph, selector);
    graph
        .node_ids()
        .filter(|id| {
            let node = graph.node(*id);
            let touches = || node.sources.iter().flatten().chain(&node.results).any(|t| tensors.contains(t));
            by_index == Some(*id)
                || (node.label == selector && !selector.is_empty())
                || node.op.kind().signature().stem == selector
                || (!tensors.is_empty() && touches())
        })
        .collect()
}

/// Tensors that a selector means: one by index, an output by name, or all on a storage.
fn tensors(graph: &Graph, selector: &str) -> HashSet<TensorId> {
    let by_index = selector.strip_prefix('t').and_then(|index| index.parse::<u32>().ok()).map(TensorId);
    let storage = graph.storages.iter().position(|storage| !selector.is_empty() && storage.name == selector);
    let on = |id: &TensorId| storage == Some(graph.tensor(*id).storage.index());
    let all = (0..graph.tensors.len() as u32).map(TensorId);
    all.filter(|id| by_index == Some(*id) || graph.output(selector) == Some(*id) || on(id)).collect()
}

/// The story of a node that nothing takes, or that is taken twice.
pub fn story(graph: &Graph, lost: &Uncovered) -> String {
    let mut text = operands(graph, lost.node);
    match lost.times {
        0 => text.push_str("  no kernel takes it\n"),
        times => {
            let _ = writeln!(text, "  is covered {times} times");
        }
    }
    for attempt in &lost.attempts {
        tell(graph, attempt, &mut text);
        text.push('\n');
    }
    text
}

/// A layout in words: strides in bytes and in elements.
fn layout(layout: &Layout) -> String {
    let size = layout.dtype.block_bytes();
    let whole = layout.strides.iter().all(|stride| stride.is_multiple_of(size));
    let unit = if layout.dtype.is_quantised() { "blocks" } else { "elements" };
    let counted = match whole {
        true => format!(" ({:?} {unit})", layout.strides.map(|stride| stride / size)),
        false => String::new(),
    };
    let Layout { dtype, shape, strides, offset } = layout;
    format!("{dtype} {shape:?} strides {strides:?} bytes{counted}, offset {offset}")
}

/// A node with its sources and results.
fn operands(graph: &Graph, node: NodeId) -> String {
    let mut text = format!("node {}: {}\n", node.0, graph.describe(node));
    let it = graph.node(node);
    let signature = it.op.kind().signature();
    let sources = signature.sources.iter().map(|p| p.name).zip(it.sources.iter().copied());
    let results = signature.results.iter().copied().zip(it.results.iter().map(|t| Some(*t)));
    for (name, id) in sources.chain(results) {
        let Some(id) = id else { continue };
        let tensor = graph.tensor(id);
        let storage = graph.storage(tensor.storage);
        let label =
            if storage.name.is_empty() { format!("#{}", tensor.storage.0) } else { storage.name.clone() };
        let _ = writeln!(
            text,
            "  {name}: t{} {}, storage {label} v{}",
            id.0,
            layout(&tensor.layout),
            tensor.version
        );
    }
    text
}

/// One attempt: how far it came, and each refusal with what was at the port that it names.
fn tell(graph: &Graph, attempt: &Attempt, text: &mut String) {
    let state = match &attempt.state {
        State::Offered => "declined".to_owned(),
        State::Matched => "matched, not claimed".to_owned(),
        State::Claimed { dispatch } => format!("claimed by dispatch {dispatch}"),
        State::Executable { dispatch } => format!("claimed and built as dispatch {dispatch}"),
        State::Revoked { reason } => format!("claimed, then revoked: {reason}"),
    };
    let _ = write!(text, "  {} at node {}: {state}", attempt.rule, attempt.root.0);
    if matches!(attempt.state, State::Claimed { .. } | State::Executable { .. })
        && !attempt.declines.is_empty()
    {
        text.push_str(", after other variants had refused");
    }
    for decline in &attempt.declines {
        let step = decline.step.map_or(String::new(), |s| format!(" step {s}"));
        let _ = write!(text, "; node {}{step}: {}", decline.node.0, decline.why);
        if let Some(source) = source(graph, decline) {
            let _ = write!(text, " (source `{source}` of {})", graph.describe(decline.node));
        }
        let at = |port: &&'static str| attempt.operands.iter().find(|(name, _)| name == port);
        if let Some((port, tensor)) = decline.why.port().as_ref().and_then(at) {
            let _ = write!(text, " ({port} is {})", layout(&tensor.layout));
        }
    }
}

/// The name of the source that a refusal counts.
fn source(graph: &Graph, decline: &Decline) -> Option<&'static str> {
    let index = match decline.why {
        Why::Missing { source }
        | Why::Unexpected { source }
        | Why::ManyWriters { source, .. }
        | Why::Rearranged { source }
        | Why::InputUnbound { source } => source,
        _ => return None,
    };
    let ports = graph.node(decline.node).op.kind().signature().sources;
    ports.get(index).map(|port| port.name)
}
