//! S2: a single-node kernel refuses only from its own contract and never looks at consumers, so any rule may be off.

use std::path::Path;
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::driver::Options;
use weft_core::rules::FUSED;
use weft_tests::graphs::models::tiny;
use weft_tests::graphs::{Fixture, catalog, claims, same, without};
use weft_tests::{devices, sources};

fn exact(options: Options) -> Options {
    Options { exact: true, ..options }
}

fn same_without(fixture: &Fixture) {
    same_on(fixture, devices::cpu(&Default::default()));
    same_on(fixture, devices::complete());
}

fn same_on(fixture: &Fixture, device: Arc<dyn Backend>) {
    let device = [device];
    let run = |options: Options| {
        let what = format!("{}, without {:?}", fixture.name, options.disabled);
        (fixture.run(&device, &exact(options)).unwrap_or_else(|e| panic!("{what}: {e}")), what)
    };
    let (want, _) = run(without(&["*"]));
    let (all, what) = run(Options::default());
    let tolerance = same::tolerance(&want.plan);
    same::check(&fixture.graph, &all, &want, tolerance).unwrap_or_else(|e| panic!("{what}: {e}"));
    for rule in FUSED.iter().filter(|rule| claims(&all.plan, rule.name) > 0) {
        let (got, what) = run(without(&[rule.name]));
        assert_eq!(claims(&got.plan, rule.name), 0, "{what}");
        same::check(&fixture.graph, &got, &want, tolerance).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
}

#[test]
fn every_fixture_gives_the_same_with_any_rule_off() {
    catalog::all().iter().for_each(same_without);
}

#[test]
fn every_tiny_model_gives_the_same_with_any_rule_off() {
    ["qwen35", "qwen35moe", "qwen3next", "qwen4exp", "qwen3", "llama"]
        .map(tiny)
        .iter()
        .for_each(same_without);
}

#[test]
fn contract_code_cannot_see_a_graph() {
    for file in sources::under("core/src/contract") {
        for word in ["Scene", "Dependencies", "NodeId", "Graph", "graph::Node", "Site"] {
            assert!(!file.code.contains(word), "{}: mentions {word}", file.name);
        }
    }
}

#[test]
fn the_single_node_rule_asks_about_its_own_node_only() {
    let file = sources::read(Path::new("core/src/rules/single.rs"));
    for question in
        [".reader(", ".reader_of_part(", ".overwriter(", ".producer(", ".producer_of_part(", ".sides("]
    {
        assert!(!file.code.contains(question), "it asks {question}");
    }
}
