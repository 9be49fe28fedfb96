//! S12: a view is no link of any pattern, so eliding it before or after matching changes nothing.

use std::sync::Arc;
use weft_core::driver::Options;
use weft_core::graph::{Graph, Op};
use weft_core::plan::Plan;
use weft_core::rules::FUSED;
use weft_tests::graphs::edit::folded;
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::random::program;
use weft_tests::graphs::{catalog, claims, delta, masks, plan_for, same, without};
use weft_tests::{Random, devices};

fn planned(graph: &Arc<Graph>) -> Plan {
    plan_for(graph, &[devices::complete()], &Options::default()).unwrap()
}

/// The plan with all views, with none, and with random halves of them.
fn same_plan(graph: &Arc<Graph>, what: &str) {
    let want = planned(graph);
    let mut random = Random::named(what, 12);
    let none = folded(graph, |_| true);
    assert!(none.nodes.iter().all(|node| node.op != Op::View));
    let mut others = vec![none];
    others.extend((0..3).map(|_| folded(graph, |_| random.below(2) == 0)));
    for other in others {
        other.verify().unwrap_or_else(|e| panic!("{what}: {e}"));
        let got = planned(&Arc::new(other));
        for rule in FUSED {
            assert_eq!(claims(&got, rule.name), claims(&want, rule.name), "{what}: {}", rule.name);
        }
        assert_eq!(got.hash, want.hash, "{what}");
    }
}

#[test]
fn fixtures_plan_alike_with_and_without_their_views() {
    for fixture in catalog::all() {
        same_plan(&fixture.graph, &fixture.name);
    }
    for (name, layer) in delta::variants(delta::TRUE_SIZE) {
        same_plan(&layer.graph().graph, &name);
    }
    let whole = masks::true_size(2560).then(delta::TRUE_SIZE, "the graph of the failure");
    same_plan(&whole.graph, &whole.name);
}

#[test]
fn models_plan_alike_with_and_without_their_views() {
    for (arch, size) in [("qwen35", "0.8b"), ("qwen35moe", "tiny"), ("qwen3", "0.6b"), ("llama", "135m")] {
        for tokens in [1, 64] {
            same_plan(&graph(&described(arch, size), &ubatch(tokens)), &format!("{arch} {size} T {tokens}"));
        }
    }
}

#[test]
fn random_programs_plan_alike_with_and_without_their_views() {
    for seed in 0..80 {
        same_plan(&program(seed, 50).graph, &format!("program {seed}"));
    }
}

#[test]
fn a_match_gets_the_value_of_an_elided_view_as_an_alias() {
    let device = [devices::complete()];
    for fixture in catalog::layers().into_iter().filter(|f| !f.name.contains("T 51")) {
        let bare = fixture.with("without views", folded(&fixture.graph, |_| true));
        let exact = |off: &[&str]| Options { exact: true, ..without(off) };
        let (got, want) =
            (bare.run(&device, &exact(&[])).unwrap(), fixture.run(&device, &exact(&["*"])).unwrap());
        same::check(&bare.graph, &got, &want, same::tolerance(&want.plan))
            .unwrap_or_else(|e| panic!("{}: {e}", bare.name));
    }
}
