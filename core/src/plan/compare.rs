//! Two plans side by side: what changed for whom.

use super::{DispatchRecord, PlanRecord};
use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Display, Formatter};

/// A node that runs otherwise, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The node: its index in the first plan, or in the second if the first has none like it, its name and operation.
    pub node: String,
    /// How it runs in the first plan; none if that has no such node.
    pub before: Option<String>,
    /// How it runs in the second.
    pub after: Option<String>,
}

/// What differs between two plans. Nodes are paired by name, or by operation where they have none, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Hashes of both.
    pub hashes: [String; 2],
    /// Counts of both, by what is counted.
    pub counts: Vec<(&'static str, [u64; 2])>,
    /// Nodes that run otherwise.
    pub changes: Vec<Change>,
}

impl Comparison {
    /// Compares two plans.
    pub fn of(before: &PlanRecord, after: &PlanRecord) -> Self {
        let (old, new) = (Nodes::of(before), Nodes::of(after));
        let mut changes = Vec::new();
        for (key, index) in &old.order {
            let (was, is) = (old.run(*index), new.index.get(key).map(|index| new.run(*index)));
            if is.as_ref() != Some(&was) {
                changes.push(Change { node: old.called(*index), before: Some(was), after: is });
            }
        }
        for (_, index) in new.order.iter().filter(|(key, _)| !old.index.contains_key(key)) {
            changes.push(Change { node: new.called(*index), before: None, after: Some(new.run(*index)) });
        }
        let counts = COUNTS.iter().map(|(what, count)| (*what, [count(before), count(after)])).collect();
        Comparison { hashes: [before.hash.clone(), after.hash.clone()], counts, changes }
    }
}

type Count = fn(&PlanRecord) -> u64;

const COUNTS: [(&str, Count); 9] = [
    ("nodes that compute", |plan| plan.placements.iter().flatten().count() as u64),
    ("launches", |plan| plan.dispatches.len() as u64),
    ("phases", |plan| plan.dispatches.last().map_or(0, |d| u64::from(d.phase) + 1)),
    ("splits", |plan| plan.splits.len() as u64),
    ("bytes moved", |plan| plan.dispatches.iter().map(|d| d.bytes).fold(0, u64::saturating_add)),
    ("flops", |plan| plan.dispatches.iter().map(|d| d.flops).fold(0, u64::saturating_add)),
    ("bytes copied between devices", |plan| {
        let copies = plan.splits.iter().flat_map(|split| &split.copies).chain(&plan.last_copies);
        copies.map(|copy| copy.bytes).fold(0, u64::saturating_add)
    }),
    ("bytes of activations", |plan| plan.devices.iter().map(|d| d.arena_bytes).fold(0, u64::saturating_add)),
    ("claims given back", |plan| plan.revoked.len() as u64),
];

/// A node's name or operation, and how many before it in the list are called alike.
type Key<'a> = (&'a str, usize);

/// The nodes of a plan that compute.
struct Nodes<'a> {
    plan: &'a PlanRecord,
    order: Vec<(Key<'a>, usize)>,
    index: HashMap<Key<'a>, usize>,
}

impl<'a> Nodes<'a> {
    fn of(plan: &'a PlanRecord) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let mut order = Vec::new();
        for (index, node) in plan.graph.nodes.iter().enumerate() {
            if plan.placements.get(index).copied().flatten().is_none() {
                continue;
            }
            let name = if node.name.is_empty() { node.op.as_str() } else { node.name.as_str() };
            let count = counts.entry(name).or_default();
            order.push(((name, *count), index));
            *count += 1;
        }
        let index = order.iter().copied().collect();
        Nodes { plan, order, index }
    }

    fn called(&self, index: usize) -> String {
        let node = &self.plan.graph.nodes[index];
        if node.name.is_empty() {
            format!("node {index} {}", node.op)
        } else {
            format!("node {index} {} ({})", node.op, node.name)
        }
    }

    /// Kernel, place, company and constants.
    fn run(&self, index: usize) -> String {
        let dispatch = self.plan.placements.get(index).copied().flatten();
        let Some(dispatch) = dispatch.and_then(|at| self.plan.dispatches.get(at)) else {
            return String::new();
        };
        let DispatchRecord { kernel, variant, rule, nodes, constants, .. } = dispatch;
        let device = self.plan.devices.get(dispatch.device).map_or("", |device| device.name.as_str());
        let mut text = format!("{kernel}/{variant} on {device} by {rule}");
        if nodes.len() > 1 {
            text.push_str(&format!(" with {} nodes", nodes.len()));
        }
        for (name, value) in constants {
            text.push_str(&format!(" {name}={value}"));
        }
        text
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [before, after] = &self.hashes;
        match before == after {
            true => writeln!(f, "plan {before}: the same launches")?,
            false => writeln!(f, "plan {before} -> {after}")?,
        }
        for (what, [before, after]) in &self.counts {
            if before == after {
                writeln!(f, "  {what}: {before}")?;
            } else {
                let change = i128::from(*after) - i128::from(*before);
                writeln!(f, "  {what}: {before} -> {after} ({change:+})")?;
            }
        }
        let none = || "not there".to_owned();
        writeln!(f, "{} nodes run otherwise", self.changes.len())?;
        for Change { node, before, after } in &self.changes {
            writeln!(f, "  {node}")?;
            writeln!(f, "    - {}", before.clone().unwrap_or_else(none))?;
            writeln!(f, "    + {}", after.clone().unwrap_or_else(none))?;
        }
        Ok(())
    }
}
