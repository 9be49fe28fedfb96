//! What plans look like, recorded: a change of a rule, a kernel or the planner shows here and is accepted or not.
//!
//! The CPU offers the same kernels on every machine, so the hashes hold everywhere. `INSTA_UPDATE=always` records anew.

use std::fmt::Write;
use std::sync::Arc;
use weft_core::driver::Options;
use weft_core::graph::Graph;
use weft_core::plan::Census;
use weft_tests::devices;
use weft_tests::graphs::delta::{Layer, TRUE_SIZE, whole_pool};
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::{masks, plan_for, segmented, without};

fn census(graph: &Arc<Graph>, options: &Options) -> Census {
    plan_for(graph, &[devices::cpu(&Default::default())], options).unwrap().census()
}

fn told(text: &mut String, what: &str, graph: &Arc<Graph>, options: &Options) {
    let census = census(graph, options);
    let list = |counts: Vec<String>| counts.join(", ");
    let rules = list(census.rules.iter().map(|(rule, count)| format!("{rule} {count}")).collect());
    let kernels = list(census.kernels.iter().map(|(kernel, count)| format!("{kernel} {count}")).collect());
    let Census { nodes, aliases, dispatches, phases, splits, off_device, fused, .. } = census;
    let _ = writeln!(text, "{what}: plan {}", census.hash);
    let _ = writeln!(text, "  {nodes} nodes ({fused} fused), {aliases} views");
    let _ = writeln!(
        text,
        "  {dispatches} dispatches, {phases} phases, {splits} splits, {off_device} nodes elsewhere"
    );
    let _ =
        writeln!(text, "  activations {:?} bytes, states {} bytes", census.arena_bytes, census.state_bytes);
    let _ = writeln!(text, "  rules: {rules}");
    let _ = writeln!(text, "  kernels: {kernels}");
}

fn model(arch: &str, size: &str) -> String {
    let model = described(arch, size);
    let mut text = String::new();
    for tokens in [1, 64, 512] {
        let graph = graph(&model, &ubatch(tokens));
        told(&mut text, &format!("{tokens} tokens"), &graph, &Options::default());
        if tokens == 1 {
            told(&mut text, "1 token, exact", &graph, &Options { exact: true, ..Options::default() });
            told(&mut text, "1 token, no rules", &graph, &without(&["*"]));
        }
    }
    text
}

#[test]
fn plans_of_the_smallest_hybrid_are_as_recorded() {
    insta::assert_snapshot!(model("qwen35", "0.8b"));
}

#[test]
fn plans_of_the_largest_hybrid_are_as_recorded() {
    insta::assert_snapshot!(model("qwen35", "27b"));
}

#[test]
fn plans_of_a_mixture_are_as_recorded() {
    insta::assert_snapshot!(model("qwen35moe", "35b-a3b"));
}

#[test]
fn plans_of_a_mixture_with_grouped_heads_are_as_recorded() {
    insta::assert_snapshot!(model("qwen3next", "80b-a3b"));
}

#[test]
fn plans_of_a_dense_model_with_normed_heads_are_as_recorded() {
    insta::assert_snapshot!(model("qwen3", "0.6b"));
}

#[test]
fn plans_of_a_plain_dense_model_are_as_recorded() {
    insta::assert_snapshot!(model("llama", "1b"));
}

#[test]
fn plans_of_the_delta_net_layer_are_as_recorded() {
    let mut text = String::new();
    let given = TRUE_SIZE.graph();
    told(&mut text, "given states", &given.graph, &Options::default());
    told(&mut text, "given states, no rules", &given.graph, &without(&["*"]));
    let pool = Layer { states: whole_pool(1), ..TRUE_SIZE }.graph();
    told(&mut text, "states in a pool", &pool.graph, &Options::default());
    let segments = segmented::true_size().graph("segments");
    told(&mut text, "segments", &segments.graph, &Options::default());
    for cells in [512, 2560, 18_944] {
        let layer = Layer { states: whole_pool(1), ..TRUE_SIZE };
        let whole = masks::true_size(cells).then(layer, "attention and layer");
        told(&mut text, &format!("behind attention over {cells} cells"), &whole.graph, &Options::default());
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_hybrid_model_is_one_dispatch_per_delta_net_and_one_split() {
    for (arch, size, layers) in [
        ("qwen35", "0.8b", 24),
        ("qwen35", "27b", 64),
        ("qwen35moe", "35b-a3b", 40),
        ("qwen3next", "80b-a3b", 48),
    ] {
        let graph = graph(&described(arch, size), &ubatch(1));
        let census = census(&graph, &Options::default());
        assert_eq!(census.rules["gdn_layer"], layers * 3 / 4, "{size}");
        assert_eq!((census.splits, census.off_device, census.revoked), (1, 0, 0), "{size}");
        assert!(
            !census.kernels.keys().any(|k| k.starts_with("l2_norm") || k.starts_with("ssm_conv")),
            "{size}"
        );
    }
}
