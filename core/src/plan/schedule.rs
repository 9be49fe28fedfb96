//! Accepted claims in an order that their dependencies allow, cut into phases.

use super::PlanError;
use crate::driver::{Accepted, Scene};
use crate::graph::NodeId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Claims in order, with the phase of each.
pub(super) struct Schedule {
    /// Indices of accepted claims, in order.
    pub order: Vec<usize>,
    /// Phase of each place in the order.
    pub phases: Vec<u32>,
    /// Per node the accepted claim that covers it.
    pub owner: Vec<Option<usize>>,
}

/// Orders claims as near to the graph's own order as dependencies allow.
pub(super) fn schedule(scene: &Scene<'_>, accepted: &[Accepted]) -> Result<Schedule, PlanError> {
    let mut owner = vec![None; scene.graph.nodes.len()];
    for (index, claim) in accepted.iter().enumerate() {
        claim.claim.nodes.iter().for_each(|node| owner[node.index()] = Some(index));
    }
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); accepted.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); accepted.len()];
    for (index, claim) in accepted.iter().enumerate() {
        for node in &claim.claim.nodes {
            for edge in scene.dependencies.after(*node) {
                if let Some(later) = owner[edge.node.index()].filter(|later| *later != index) {
                    after[index].push(later);
                }
            }
        }
        after[index].sort_unstable();
        after[index].dedup();
        after[index].iter().for_each(|later| before[*later].push(index));
    }
    let key = |index: usize| Reverse((accepted[index].claim.nodes.first().map_or(0, |n| n.0), index));
    let mut waits: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut ready: BinaryHeap<_> = (0..accepted.len()).filter(|i| waits[*i] == 0).map(key).collect();
    let mut order = Vec::with_capacity(accepted.len());
    while let Some(Reverse((_, index))) = ready.pop() {
        order.push(index);
        for later in &after[index] {
            waits[*later] -= 1;
            if waits[*later] == 0 {
                ready.push(key(*later));
            }
        }
    }
    if order.len() < accepted.len() {
        let stuck = waits.iter().position(|left| *left > 0).unwrap_or(0);
        return Err(PlanError::Order {
            node: accepted[stuck].claim.nodes.first().copied().unwrap_or(NodeId(0)),
        });
    }
    let phases = phases(&order, &before, accepted);
    Ok(Schedule { order, phases, owner })
}

/// A new phase begins where a claim depends on one of the current phase, or the device changes.
fn phases(order: &[usize], before: &[Vec<usize>], accepted: &[Accepted]) -> Vec<u32> {
    let mut phase_of = vec![u32::MAX; accepted.len()];
    let mut phases = Vec::with_capacity(order.len());
    let mut phase = 0;
    let mut device = order.first().map_or(0, |first| accepted[*first].device);
    for index in order {
        let waits = before[*index].iter().any(|earlier| phase_of[*earlier] == phase);
        if waits || accepted[*index].device != device {
            phase += 1;
            device = accepted[*index].device;
        }
        phase_of[*index] = phase;
        phases.push(phase);
    }
    phases
}
