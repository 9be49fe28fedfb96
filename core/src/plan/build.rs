//! From a graph to a plan.

use super::{
    Binding, Cost, Dispatch, Placement, Plan, PlanError, Uncovered, hash, place, schedule, transfer,
};
use crate::driver::{self, Accepted, Decisions, Offered, Options, Scene};
use crate::graph::{Graph, StorageId};
use crate::rules::{self, Rule};
use std::sync::Arc;

/// Plans a graph for devices, the preferred first. The graph must have passed [`Graph::verify`].
///
/// # Errors
/// [`PlanError::Uncovered`] names each node that nothing takes with its whole trail.
pub fn build(graph: Arc<Graph>, devices: &[Offered<'_>], options: &Options) -> Result<Plan, PlanError> {
    build_with(graph, devices, options, rules::FUSED)
}

/// The same with other fused rules than [`rules::FUSED`], or in another order.
///
/// # Errors
/// As [`build`].
pub fn build_with(
    graph: Arc<Graph>,
    devices: &[Offered<'_>],
    options: &Options,
    fused: &[&'static Rule],
) -> Result<Plan, PlanError> {
    if devices.is_empty() {
        return Err(PlanError::NoDevice);
    }
    let scene = Scene::new(&graph);
    let decisions = driver::decide(&scene, devices, options, fused)?;
    check_cover(&scene, &decisions)?;
    let schedule = schedule::schedule(&scene, &decisions.accepted)?;
    let dispatches: Vec<Dispatch> = schedule
        .order
        .iter()
        .zip(&schedule.phases)
        .map(|(index, phase)| dispatch(&decisions.accepted[*index], *phase))
        .collect();
    let mut place_of = vec![0; decisions.accepted.len()];
    schedule.order.iter().enumerate().for_each(|(at, index)| place_of[*index] = at);
    let placements = schedule
        .owner
        .iter()
        .map(|o| o.map_or(Placement::Alias, |i| Placement::Dispatch(place_of[i])))
        .collect();
    let mut trail = decisions.trail;
    for attempt in &mut trail {
        if let driver::State::Claimed { dispatch } = &mut attempt.state {
            *dispatch = place_of[*dispatch];
        }
    }
    let borders = transfer::borders(&graph, &dispatches);
    let mut crossings = Vec::new();
    for split in &borders.splits {
        let phase = dispatches[split.first].phase;
        // A copy happens at the border: after the phase before, before the phase after.
        crossings.extend(split.copies.iter().flat_map(|t| [(phase.saturating_sub(1), *t), (phase, *t)]));
    }
    crossings.extend(borders.last.iter().map(|t| (u32::MAX, *t)));
    let places = |device: usize| {
        let all = dispatches.iter().filter(|d| d.device == device && options.keep_values);
        let values = all.flat_map(|d| d.bindings.iter().flatten()).map(|b| b.tensor.storage);
        let kept: Vec<StorageId> = graph
            .outputs
            .iter()
            .zip(&borders.output_devices)
            .filter(|(_, d)| **d == device)
            .map(|((_, t), _)| graph.tensor(*t).storage)
            .chain(values)
            .collect();
        place::place(&graph, devices[device].name, device, &dispatches, &crossings, &kept)
    };
    let devices = (0..devices.len()).map(places).collect();
    let (splits, last_copies, output_devices) = (borders.splits, borders.last, borders.output_devices);
    drop(scene);
    let mut plan = Plan {
        graph,
        devices,
        dispatches,
        splits,
        last_copies,
        output_devices,
        placements,
        trail,
        revoked: options.forbidden.clone(),
        hash: 0,
    };
    plan.hash = hash::hash(&plan);
    Ok(plan)
}

fn dispatch(accepted: &Accepted, phase: u32) -> Dispatch {
    let bindings: Vec<Option<Binding>> = accepted
        .offer
        .contract
        .ports
        .iter()
        .zip(&accepted.operands)
        .map(|(port, tensor)| tensor.map(|tensor| Binding { port: port.name, access: port.access, tensor }))
        .collect();
    Dispatch {
        kernel: accepted.claim.kernel,
        variant: accepted.offer.variant,
        rule: accepted.claim.rule,
        device: accepted.device,
        nodes: accepted.claim.nodes.clone(),
        cost: Cost::of(accepted.claim.kernel, &bindings),
        bindings,
        constants: accepted.constants.clone(),
        phase,
    }
}

fn check_cover(scene: &Scene<'_>, decisions: &Decisions) -> Result<(), PlanError> {
    let claims = decisions.accepted.iter().map(|a| a.claim.nodes.as_slice());
    driver::cover(scene, claims).map_err(|wrong| {
        let describe = |(node, times): (crate::graph::NodeId, usize)| Uncovered {
            node,
            name: scene.graph.describe(node),
            times,
            attempts: decisions.trail.iter().filter(|a| a.visited.contains(&node)).cloned().collect(),
        };
        PlanError::Uncovered(wrong.into_iter().map(describe).collect())
    })
}
