//! S1: each node that computes is in exactly one accepted dispatch, views are aliases, and nothing else exists.

use std::sync::Arc;
use weft_core::driver::{self, Options, Scene};
use weft_core::graph::{Graph, NodeId, Op};
use weft_core::plan::{Placement, Plan, PlanError};
use weft_core::rules::FUSED;
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::models::{MODELS, TOKENS, described, graph, ubatch};
use weft_tests::graphs::random::program;
use weft_tests::graphs::{catalog, delta, plan_for, without};

/// Counts again, from the plan alone.
pub fn covered(plan: &Plan) -> Result<(), String> {
    let mut times = vec![0; plan.graph.nodes.len()];
    for (index, dispatch) in plan.dispatches.iter().enumerate() {
        for node in &dispatch.nodes {
            times[node.index()] += 1;
            if plan.placements[node.index()] != Placement::Dispatch(index) {
                return Err(format!("{} is placed elsewhere", plan.graph.describe(*node)));
            }
        }
    }
    for node in plan.graph.node_ids() {
        let (name, times) = (plan.graph.describe(node), times[node.index()]);
        let view = plan.graph.node(node).op == Op::View;
        if times != usize::from(!view) {
            return Err(format!("{name} is covered {times} times"));
        }
        if (plan.placements[node.index()] == Placement::Alias) != view {
            return Err(format!("{name} is no view, or no alias"));
        }
    }
    Ok(())
}

/// Every rule off alone, all of them, none; each with and without exactness.
fn every_option() -> Vec<Options> {
    let mut all = vec![Options::default(), without(&["*"])];
    all.extend(FUSED.iter().map(|rule| without(&[rule.name])));
    let exact: Vec<Options> = all.iter().map(|o| Options { exact: true, ..o.clone() }).collect();
    all.extend(exact);
    all
}

fn plans(graph: &Arc<Graph>, options: &[Options], what: &str) {
    for device in [devices::cpu(&Default::default()), devices::complete()] {
        let device = [device];
        for options in options {
            let plan =
                plan_for(graph, &device, options).unwrap_or_else(|e| panic!("{what}, {options:?}: {e}"));
            covered(&plan).unwrap_or_else(|e| panic!("{what}: {e}"));
        }
    }
}

fn models(of: &str) {
    for (arch, size) in MODELS.into_iter().filter(|(arch, _)| *arch == of) {
        let model = described(arch, size);
        for tokens in TOKENS {
            let graph = graph(&model, &ubatch(tokens));
            plans(&graph, &every_option(), &format!("{arch} {size}, {tokens} tokens"));
        }
    }
}

#[test]
fn every_hybrid_model_is_covered_under_every_option() {
    models("qwen35");
}

#[test]
fn every_mixture_is_covered_under_every_option() {
    models("qwen35moe");
    models("qwen3next");
    models("qwen4exp");
    models("qwen3moe");
}

#[test]
fn every_dense_model_is_covered_under_every_option() {
    models("qwen3");
    models("qwen2");
    models("llama");
}

#[test]
fn every_fixture_is_covered_under_every_option() {
    let mut all = catalog::all();
    all.extend(delta::variants(delta::TRUE_SIZE).into_iter().map(|(_, layer)| layer.graph()));
    for fixture in all {
        plans(&fixture.graph, &every_option(), &fixture.name);
    }
}

#[test]
fn random_programs_are_covered_under_every_option() {
    for seed in 0..60 {
        let fixture = program(seed, 60);
        plans(&fixture.graph, &every_option(), &fixture.name);
    }
}

#[test]
fn a_claim_deleted_from_a_good_plan_leaves_exactly_its_nodes_uncovered() {
    let graph = graph(&described("qwen35", "tiny"), &ubatch(7));
    let plan = plan_for(&graph, &[devices::reference()], &Options::default()).unwrap();
    let scene = Scene::new(&graph);
    let all = || plan.dispatches.iter().map(|d| d.nodes.as_slice());
    assert_eq!(driver::cover(&scene, all()), Ok(()));
    for (gone, dispatch) in plan.dispatches.iter().enumerate() {
        let rest = all().enumerate().filter(|(index, _)| *index != gone).map(|(_, nodes)| nodes);
        let mut want: Vec<(NodeId, usize)> = dispatch.nodes.iter().map(|node| (*node, 0)).collect();
        want.sort_unstable();
        assert_eq!(driver::cover(&scene, rest), Err(want), "without {}", dispatch.rule);
        let twice = all().chain([dispatch.nodes.as_slice()]);
        assert!(driver::cover(&scene, twice).unwrap_err().iter().all(|(_, times)| *times == 2));
    }
}

#[test]
fn a_node_that_nothing_takes_is_named_with_its_whole_trail() {
    let fixture = delta::SMALL.fixture("layer");
    let device = Faulty::around(devices::reference()).without(|offer| offer.contract.kernel == "l2_norm");
    let options = without(&["gdn_core"]);
    let Err(PlanError::Uncovered(lost)) = fixture.plan(&[device.shared()], &options) else {
        panic!("nobody can take the norms");
    };
    let nodes: Vec<NodeId> = lost.iter().map(|u| u.node).collect();
    assert_eq!(nodes, [fixture.node("q_norm"), fixture.node("k_norm")]);
    for uncovered in lost {
        assert_eq!(uncovered.times, 0);
        let rules: Vec<&str> = uncovered.attempts.iter().map(|a| a.rule).collect();
        assert_eq!(rules, ["gdn_core", "single"], "the rules that looked at it, and the plain kernel");
    }
}
