//! Barriers: dispatches of one phase do not depend on each other, and no phase begins without need.

use weft_core::driver::Options;
use weft_core::graph::Dependencies;
use weft_core::plan::{Placement, Plan};
use weft_tests::devices;
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::random::program;
use weft_tests::graphs::{catalog, plan_for, without};

/// For each dispatch those that must have finished before it.
fn waits(plan: &Plan) -> Vec<Vec<usize>> {
    let dependencies = Dependencies::of(&plan.graph);
    let mut all = vec![Vec::new(); plan.dispatches.len()];
    let of = |node: weft_core::graph::NodeId| match plan.placements[node.index()] {
        Placement::Dispatch(index) => Some(index),
        Placement::Alias => None,
    };
    for node in plan.graph.node_ids() {
        for edge in dependencies.after(node) {
            if let (Some(first), Some(second)) = (of(node), of(edge.node))
                && first != second
            {
                all[second].push(first);
            }
        }
    }
    all
}

fn check(plan: &Plan, what: &str) {
    let waits = waits(plan);
    for (index, dispatch) in plan.dispatches.iter().enumerate() {
        for first in &waits[index] {
            let earlier = plan.dispatches[*first].phase;
            assert!(earlier < dispatch.phase, "{what}: dispatches {first} and {index} are not apart");
        }
        let before = index.checked_sub(1).map_or(0, |i| plan.dispatches[i].phase);
        assert!(dispatch.phase == before || dispatch.phase == before + 1, "{what}: phases are counted up");
        // A new phase begins because somebody in the last one is waited for, or the device changes.
        if dispatch.phase > before {
            let needed = waits[index].iter().any(|first| plan.dispatches[*first].phase == before);
            let moved = plan.dispatches[index - 1].device != dispatch.device;
            assert!(needed || moved, "{what}: a barrier before dispatch {index} separates nothing");
        }
    }
}

#[test]
fn phases_keep_dependent_dispatches_apart() {
    let device = [devices::complete()];
    for options in [Options::default(), without(&["*"])] {
        for fixture in catalog::all() {
            check(&fixture.plan(&device, &options).unwrap(), &fixture.name);
        }
        for seed in 0..100 {
            check(&program(seed, 60).plan(&device, &options).unwrap(), &format!("program {seed}"));
        }
        for (arch, size) in [("qwen35", "27b"), ("qwen35moe", "35b-a3b"), ("qwen3", "0.6b"), ("llama", "1b")]
        {
            let graph = graph(&described(arch, size), &ubatch(64));
            check(&plan_for(&graph, &device, &options).unwrap(), &format!("{arch} {size}"));
        }
    }
}

#[test]
fn independent_projections_share_a_phase() {
    let graph = graph(&described("qwen35", "0.8b"), &ubatch(1));
    let plan = plan_for(&graph, &[devices::complete()], &Options::default()).unwrap();
    let of = |label: &str| {
        let node = graph.node_ids().find(|id| graph.node(*id).label == label).expect(label);
        let Placement::Dispatch(index) = plan.placements[node.index()] else { panic!("{label} is a view") };
        plan.dispatches[index].phase
    };
    let projections =
        ["attn_qkv", "attn_gate", "ssm_beta", "ssm_alpha"].map(|name| of(&format!("blk.0.{name}")));
    assert!(projections.iter().all(|phase| *phase == projections[0]), "{projections:?}");
}
