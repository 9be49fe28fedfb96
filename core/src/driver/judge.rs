//! Legality of a claim, the same questions for every rule.

use super::{Claim, Decline, Scene, Why};
use crate::contract::{Access, Contract};
use crate::graph::{Edge, Hazard, NodeId, Op, Owner, Tensor};
use crate::kernels;
use std::collections::HashSet;

/// Which accepted claim each node belongs to, and how far claims reach.
pub(super) struct Groups {
    /// Per node the accepted claim.
    pub of: Vec<Option<usize>>,
    members: Vec<Vec<NodeId>>,
    rank: Vec<u32>,
    reach: Vec<u32>,
}

impl Groups {
    /// No claim accepted yet. `order` is a topological order of the nodes.
    pub fn new(order: &[NodeId]) -> Self {
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, node)| rank[node.index()] = at as u32);
        Groups {
            of: vec![None; order.len()],
            members: Vec::new(),
            rank,
            reach: (0..order.len() as u32).collect(),
        }
    }

    /// Accepts a claim on these nodes and gives its index.
    pub fn accept(&mut self, nodes: &[NodeId]) -> usize {
        let index = self.members.len();
        let ranks = || nodes.iter().map(|n| self.rank[n.index()]);
        let (low, high) = (ranks().min().unwrap_or(0), ranks().max().unwrap_or(0));
        for at in low..=high {
            let reach = &mut self.reach[at as usize];
            *reach = (*reach).max(high);
        }
        nodes.iter().for_each(|node| self.of[node.index()] = Some(index));
        self.members.push(nodes.to_vec());
        index
    }

    /// The last rank from which a path can still return to a node of rank `high` or less.
    fn horizon(&self, mut high: u32) -> u32 {
        while self.reach[high as usize] > high {
            high = self.reach[high as usize];
        }
        high
    }
}

fn refuse(claim: &Claim, node: NodeId, why: Why) -> Decline {
    Decline { rule: claim.rule, step: None, node, why }
}

/// All but the layouts: cover, escapes, inputs and order.
pub(super) fn legal(
    scene: &Scene<'_>,
    groups: &Groups,
    claim: &Claim,
    by: impl Fn(usize) -> &'static str,
) -> Result<(), Decline> {
    for node in &claim.nodes {
        if let Some(index) = groups.of[node.index()] {
            return Err(refuse(claim, *node, Why::Taken { by: by(index) }));
        }
    }
    let covered: HashSet<NodeId> = claim.nodes.iter().copied().collect();
    ports_come_from_outside(scene, claim, &covered)?;
    for node in &claim.nodes {
        inputs_are_bound(scene, claim, &covered, *node)?;
        results_are_produced(scene, claim, &covered, *node)?;
    }
    if claim.nodes.len() > 1 {
        stays_in_order(scene, groups, claim, &covered)?;
    }
    Ok(())
}

/// How the claim's kernel uses a port.
fn access(claim: &Claim, port: &str) -> Option<Access> {
    let contract = &kernels::by_stem(claim.kernel)?.contract;
    Some(contract.ports[contract.port(port)?].access)
}

/// No port that is only read shows what the claim itself makes: nobody would have computed it yet.
fn ports_come_from_outside(
    scene: &Scene<'_>,
    claim: &Claim,
    covered: &HashSet<NodeId>,
) -> Result<(), Decline> {
    for (port, tensor) in claim.operands.iter().filter(|(port, _)| access(claim, port) == Some(Access::Read))
    {
        if let Some(own) = scene.writers(tensor).into_iter().find(|writer| covered.contains(writer)) {
            return Err(refuse(claim, own, Why::OwnResult { port }));
        }
    }
    Ok(())
}

/// Every byte that a covered node reads from outside is at a port.
fn inputs_are_bound(
    scene: &Scene<'_>,
    claim: &Claim,
    covered: &HashSet<NodeId>,
    node: NodeId,
) -> Result<(), Decline> {
    for (index, source) in scene.graph.node(node).sources.iter().enumerate() {
        let Some(source) = source.filter(|_| scene.graph.is_read(scene.graph.node(node), index)) else {
            continue;
        };
        let source = scene.graph.tensor(source);
        let writers = scene.writers(source);
        if !writers.is_empty() && writers.iter().all(|writer| covered.contains(writer)) {
            continue;
        }
        let holds = |(port, bound): &(&str, Tensor)| {
            // An updated port is bound as it will be; what it reads is ordered by the claim's own writes.
            let sees = match access(claim, port) {
                Some(Access::Read) => scene.writers(&Tensor { version: bound.version, ..*source }) == writers,
                Some(Access::Update) => true,
                Some(Access::Write) | None => false,
            };
            sees && bound.storage == source.storage
                && (bound.layout.same_bytes(&source.layout) || bound.layout.contains(&source.layout))
        };
        if !claim.operands.iter().any(holds) {
            return Err(refuse(claim, node, Why::InputUnbound { source: index }));
        }
    }
    Ok(())
}

/// A covered value that anybody outside needs is at a port that is written.
fn results_are_produced(
    scene: &Scene<'_>,
    claim: &Claim,
    covered: &HashSet<NodeId>,
    node: NodeId,
) -> Result<(), Decline> {
    for tensor in scene.graph.writes(node) {
        let tensor = scene.graph.tensor(tensor);
        let produced = claim.operands.iter().any(|(port, bound)| {
            access(claim, port).is_some_and(Access::writes)
                && bound.storage == tensor.storage
                && bound.version == tensor.version
                && (bound.layout.same_bytes(&tensor.layout) || bound.layout.contains(&tensor.layout))
        });
        if produced {
            continue;
        }
        let readers: Vec<NodeId> = scene
            .dependencies
            .readers(node)
            .filter(|e| e.storage == tensor.storage)
            .map(|e| e.node)
            .filter(|n| !covered.contains(n))
            .collect();
        if !readers.is_empty() {
            return Err(refuse(claim, node, Why::Escapes { readers }));
        }
        let storage = scene.graph.storage(tensor.storage);
        // A node may make several values, and only another one of them be an output.
        let outputs = scene.graph.outputs.iter().map(|(_, output)| scene.graph.tensor(*output));
        let wanted = outputs
            .filter(|output| output.storage == tensor.storage)
            .any(|output| scene.writers(output).contains(&node));
        let replaced =
            || {
                scene.dependencies.after(node).iter().any(|edge| {
                    edge.hazard == Hazard::WriteAfterWrite
                        && covered.contains(&edge.node)
                        && scene.graph.writes(edge.node).map(|t| scene.graph.tensor(t)).any(|later| {
                            later.storage == tensor.storage && later.layout.contains(&tensor.layout)
                        })
                })
            };
        if wanted || (storage.owner == Owner::State && !replaced()) {
            return Err(refuse(claim, node, Why::IsOutput { storage: storage.name.clone() }));
        }
    }
    Ok(())
}

/// No path leaves the claim and returns to it, accepted claims counting as one step: else merging would reorder.
fn stays_in_order(
    scene: &Scene<'_>,
    groups: &Groups,
    claim: &Claim,
    covered: &HashSet<NodeId>,
) -> Result<(), Decline> {
    let high = claim.nodes.iter().map(|n| groups.rank[n.index()]).max().unwrap_or(0);
    let horizon = groups.horizon(high);
    let mut seen: HashSet<NodeId> = HashSet::new();
    // (node outside, the edge by which its path left the claim)
    let mut open: Vec<(NodeId, &Edge)> = Vec::new();
    for node in &claim.nodes {
        let leaving = scene.dependencies.after(*node).iter().filter(|edge| !covered.contains(&edge.node));
        open.extend(leaving.map(|edge| (edge.node, edge)));
    }
    while let Some((node, left)) = open.pop() {
        let members = match groups.of[node.index()] {
            Some(index) => groups.members[index].as_slice(),
            None => std::slice::from_ref(&node),
        };
        if groups.rank[node.index()] > horizon || !seen.insert(members[0]) {
            continue;
        }
        for member in members {
            for edge in scene.dependencies.after(*member) {
                if covered.contains(&edge.node) {
                    return Err(refuse(claim, edge.node, returning(scene, claim, left, edge.node)));
                }
                open.push((edge.node, left));
            }
        }
    }
    Ok(())
}

/// Names the port if the path left by overwriting its bytes, and not by reading a result.
fn returning(scene: &Scene<'_>, claim: &Claim, left: &Edge, back: NodeId) -> Why {
    let through = left.node;
    if left.hazard == Hazard::ReadAfterWrite {
        return Why::Between { through, back };
    }
    for written in scene.graph.writes(through).map(|t| scene.graph.tensor(t)) {
        for (port, bound) in &claim.operands {
            if bound.storage == written.storage && bound.layout.overlaps(&written.layout) {
                return Why::WriteBetween { writer: through, port };
            }
        }
    }
    Why::Between { through, back }
}

/// Written ports overlap nothing that the contract does not allow.
pub(super) fn apart(contract: &Contract, claim: &Claim, operands: &[Option<Tensor>]) -> Result<(), Decline> {
    let node = claim.nodes.last().copied().unwrap_or(NodeId(0));
    for (a, written) in contract.ports.iter().zip(operands) {
        let Some(written) = written.filter(|_| a.access != Access::Read) else { continue };
        for (b, other) in contract.ports.iter().zip(operands).filter(|(b, _)| b.name != a.name) {
            let Some(other) = other else { continue };
            if written.storage != other.storage || !written.layout.overlaps(&other.layout) {
                continue;
            }
            let pair = |x: &str, y: &str| contract.may_alias.iter().any(|(p, q)| *p == x && *q == y);
            let allowed =
                (pair(a.name, b.name) || pair(b.name, a.name)) && written.layout.same_places(&other.layout);
            if !allowed {
                return Err(refuse(claim, node, Why::Overlap { a: a.name, b: b.name }));
            }
        }
    }
    Ok(())
}

/// The claim's tensors in the order of a contract's ports.
pub(super) fn arranged(contract: &Contract, claim: &Claim) -> Result<Vec<Option<Tensor>>, Decline> {
    let node = claim.nodes.last().copied().unwrap_or(NodeId(0));
    for (name, _) in &claim.operands {
        if contract.port(name).is_none() {
            return Err(refuse(claim, node, Why::NoSuchPort { port: name }));
        }
    }
    let at = |name: &str| claim.operands.iter().find(|(n, _)| *n == name).map(|(_, tensor)| *tensor);
    Ok(contract.ports.iter().map(|port| at(port.name)).collect())
}

/// The exact-cover check, independent of the driver's bookkeeping: every node that computes is in exactly one claim.
///
/// # Errors
/// Nodes that are covered another number of times than once, with that number.
pub fn cover<'a>(
    scene: &Scene<'_>,
    claims: impl Iterator<Item = &'a [NodeId]>,
) -> Result<(), Vec<(NodeId, usize)>> {
    let mut times = vec![0usize; scene.graph.nodes.len()];
    claims.flatten().for_each(|node| times[node.index()] += 1);
    let wrong: Vec<_> = scene
        .graph
        .node_ids()
        .map(|node| (node, times[node.index()], usize::from(scene.graph.node(node).op != Op::View)))
        .filter(|(_, got, want)| got != want)
        .map(|(node, got, _)| (node, got))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}
