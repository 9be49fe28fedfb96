//! Barriers: dispatches of one phase do not depend on each other, and no phase begins without need.

use weft_core::driver::Options;
use weft_core::graph::Dependencies;
use weft_core::plan::{Placement, Plan};
use weft_tests::devices;
use weft_tests::faulty::{Faulty, backwards};
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::random::program;
use weft_tests::graphs::{Fixture, catalog, plan_for, same, sharing, states, without};
use weft_tests::naive::interpret;
use weft_tests::run::Outcome;

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

/// Whether a barrier stands between any two dispatches of which one waits for the other.
fn apart(plan: &Plan) -> Result<(), String> {
    for (index, waits) in waits(plan).into_iter().enumerate() {
        let phase = |dispatch: usize| plan.dispatches[dispatch].phase;
        if let Some(first) = waits.into_iter().find(|first| phase(*first) >= phase(index)) {
            return Err(format!("dispatches {first} and {index} are not apart"));
        }
    }
    Ok(())
}

fn check(plan: &Plan, what: &str) {
    apart(plan).unwrap_or_else(|why| panic!("{what}: {why}"));
    let waits = waits(plan);
    for (index, dispatch) in plan.dispatches.iter().enumerate() {
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

fn same_as_interpreted(fixture: &Fixture, got: &Outcome) -> Result<(), String> {
    let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
    same::check(&fixture.graph, got, &want, same::tolerance(&got.plan))
}

#[test]
fn launches_of_a_phase_may_change_places() {
    for device in [devices::reference(), devices::complete()].map(Faulty::backwards) {
        let mut fixtures = catalog::all();
        fixtures.extend((0..60).map(|seed| program(seed, 60)));
        for fixture in fixtures {
            let exact = Options { exact: true, ..Options::default() };
            let got = fixture.run(std::slice::from_ref(&device), &exact).unwrap();
            same_as_interpreted(&fixture, &got).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
        }
    }
}

/// The plan without its barrier before a phase.
fn joined(plan: &mut Plan, phase: u32) {
    plan.dispatches.iter_mut().filter(|d| d.phase >= phase).for_each(|d| d.phase -= 1);
}

#[test]
fn a_missing_barrier_is_noticed() {
    let (mut barriers, mut seen) = (0, 0);
    let mut fixtures = sharing::all();
    fixtures.extend(states::all());
    for fixture in fixtures {
        for options in [Options::default(), without(&["*"])] {
            let plan = fixture.plan(&[devices::reference()], &options).unwrap();
            for phase in 1..=plan.dispatches.last().map_or(0, |last| last.phase) {
                let what = format!("{} without the barrier before phase {phase}", fixture.name);
                let mut without = plan.clone();
                joined(&mut without, phase);
                assert!(apart(&without).is_err(), "{what}: the plan passes");
                let build = move |plan: &mut Plan| {
                    joined(plan, phase);
                    backwards(plan);
                };
                let device = Faulty::around(devices::reference()).building(build).shared();
                let got = fixture.run(&[device], &options);
                let right = got.is_ok_and(|got| same_as_interpreted(&fixture, &got).is_ok());
                (barriers, seen) = (barriers + 1, seen + usize::from(!right));
            }
        }
    }
    // Where the second of two writes hides the first, their order shows in nothing that is left.
    assert!(barriers > 60 && seen * 10 > barriers * 9, "{seen} of {barriers}");
}
