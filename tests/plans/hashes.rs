//! The plan hash: equal for equal launches, and for nothing else.

use std::sync::Arc;
use weft_core::driver::Options;
use weft_core::graph::Graph;
use weft_tests::devices;
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::{delta, plan_for, without};

fn hash(graph: &Arc<Graph>, options: &Options) -> u64 {
    plan_for(graph, &[devices::cpu(&Default::default())], options).unwrap().hash
}

#[test]
fn planning_twice_gives_the_same_hash() {
    for (arch, size) in [("qwen35", "0.8b"), ("qwen35moe", "35b-a3b"), ("qwen3", "0.6b"), ("llama", "135m")] {
        let (first, second) = (described(arch, size), described(arch, size));
        for tokens in [1, 64] {
            let batch = ubatch(tokens);
            let options = Options::default();
            assert_eq!(hash(&graph(&first, &batch), &options), hash(&graph(&second, &batch), &options));
        }
    }
}

#[test]
fn a_graph_that_was_written_and_read_has_the_same_hash() {
    let graph = delta::TRUE_SIZE.graph().graph;
    let read = Graph::from_json(graph.to_json().as_bytes()).unwrap();
    assert_eq!(read, *graph);
    assert_eq!(hash(&Arc::new(read), &Options::default()), hash(&graph, &Options::default()));
}

#[test]
fn names_do_not_matter() {
    let graph = delta::SMALL.graph().graph;
    let mut renamed = (*graph).clone();
    for (index, storage) in renamed.storages.iter_mut().enumerate().filter(|(_, s)| !s.name.is_empty()) {
        storage.name = format!("storage {index}");
    }
    renamed.nodes.iter_mut().for_each(|node| node.label.clear());
    assert_eq!(hash(&Arc::new(renamed), &Options::default()), hash(&graph, &Options::default()));
}

#[test]
fn other_launches_have_other_hashes() {
    let base = delta::SMALL;
    let mut seen = vec![("base".to_owned(), hash(&base.graph().graph, &Options::default()))];
    let mut other = |what: &str, layer: delta::Layer, options: &Options| {
        seen.push((what.to_owned(), hash(&layer.graph().graph, options)));
    };
    other("one token more", delta::Layer { tokens: base.tokens + 1, ..base }, &Options::default());
    other("behind a base", delta::Layer { base: 4, ..base }, &Options::default());
    other("padded", delta::Layer { pad: 4, ..base }, &Options::default());
    other(
        "grouped heads",
        delta::Layer { map: weft_core::graph::HeadMap::Grouped, ..base },
        &Options::default(),
    );
    other("the other guard", delta::Layer { norms: delta::Norms::MaxEps, ..base }, &Options::default());
    other("more snapshots", delta::Layer { snapshots: 2, ..base }, &Options::default());
    other("one rule off", base, &without(&["gdn_core"]));
    other("another rule off", base, &without(&["gated_norm"]));
    other("all rules off", base, &without(&["*"]));
    for (at, (first, a)) in seen.iter().enumerate() {
        for (second, b) in &seen[at + 1..] {
            assert_ne!(a, b, "{first} and {second}");
        }
    }
}

#[test]
fn a_rule_that_never_fires_may_be_off_without_a_trace() {
    let graph = delta::SMALL.graph().graph;
    let base = hash(&graph, &Options::default());
    for rule in ["norm_rope", "add_rms_norm", "gdn_layer"] {
        assert_eq!(hash(&graph, &without(&[rule])), base, "{rule}");
    }
}
