//! Graph files and plan files as the command meets them.

use super::{on_cpu, refuses, scratch, text, weft};
use std::path::Path;
use weft_tests::fixtures::path;
use weft_tests::refs::References;

fn shipped(name: &str) -> String {
    path(&format!("graphs/{name}.json")).display().to_string()
}

fn ok(args: &[&str]) -> String {
    let output = on_cpu(args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_graph_of_a_model_is_planned_from_its_file_as_the_model_is() {
    let graph = scratch("model.graph.json", b"");
    let model = ok(&["plan", "--tokens", "8", "--ctx", "256", "--graph-out", &graph]);
    let from_file = ok(&["plan", "--graph", &graph]);
    assert_eq!(model, from_file);
    assert!(from_file.contains("by rule gdn_layer"), "{from_file}");
}

#[test]
fn a_graph_is_planned_explained_drawn_and_compared() {
    let graph = shipped("mask_chain_f16");
    assert!(ok(&["plan", "--graph", &graph]).contains("by rule gdn_core_in_place"));
    let noted = on_cpu(&["plan", "--graph", &graph]);
    assert!(text(&noted.stderr).contains("1 copies name their own result"), "{}", text(&noted.stderr));
    let story = ok(&["plan", "--graph", &graph, "--explain", "cache"]);
    assert!(story.contains("get_rows") && story.contains("storage cache v0"), "{story}");
    assert!(ok(&["plan", "--graph", &graph, "--dot"]).starts_with("digraph plan {"));
    let save = |name: &str, more: &[&str]| {
        let told = ok(&[&["plan", "--graph", &graph, "--json"], more].concat());
        scratch(name, told.as_bytes())
    };
    let (fused, plain) = (save("fused.json", &[]), save("plain.json", &["--disable", "*"]));
    let told = ok(&["plan", "--compare", &fused, &plain]);
    assert!(told.contains("launches: ") && told.contains("- gdn_core/"), "{told}");
    assert!(ok(&["plan", "--compare", &fused, &fused]).contains("0 nodes run otherwise"));
}

#[test]
fn copies_that_name_their_own_result_are_read_as_casts() {
    let planned = on_cpu(&["plan", "--graph", &shipped("cast_in_front"), "--explain", "cast"]);
    let (told, notes) = (text(&planned.stdout), text(&planned.stderr));
    assert!(planned.status.success(), "{notes}");
    assert!(notes.contains("1 copies name their own result and are read as casts: copy#0 (cast)"), "{notes}");
    assert!(
        told.contains("node 0: copy#0 (cast)\n  x: t0 ") && told.contains("runs in dispatch 0: copy/"),
        "{told}"
    );
    // What stands behind it, the layer too, is planned as if nothing had happened.
    let net = ok(&["plan", "--graph", &shipped("cast_in_front"), "--explain", "net"]);
    assert!(net.contains("by rule gdn_core_in_place"), "{net}");
}

#[test]
fn claims_are_priced_beside_their_alternatives() {
    let graph = shipped("write_between");
    let net = ok(&["plan", "--graph", &graph, "--explain", "net"]);
    let taken = net.lines().find(|line| line.trim_start().starts_with("moves ")).expect("a price");
    assert!(
        taken.contains(" bytes in 1 launch, about ") && taken.contains("its 7 nodes one by one "),
        "{taken}"
    );
    let lost = net.lines().find(|line| line.contains("gdn_core_in_place at node")).expect("a claim");
    assert!(lost.contains("; it would move ") && lost.contains("as its nodes run they move "), "{lost}");
    let plan: serde_json::Value =
        serde_json::from_str(&ok(&["plan", "--graph", &graph, "--json"])).expect("JSON");
    for dispatch in plan["dispatches"].as_array().expect("a list") {
        let [bytes, alone] =
            ["bytes", "bytes_one_by_one"].map(|field| dispatch[field].as_u64().expect("bytes"));
        match dispatch["rule"].as_str() {
            Some("single") => assert_eq!(bytes, alone, "{dispatch}"),
            _ => assert!(bytes < alone, "{dispatch}"),
        }
    }
}

#[test]
fn bad_graphs_and_plans_are_refused_with_one_line() {
    let whole = std::fs::read_to_string(shipped("competing_claims")).expect("a graph");
    refuses(&["plan", "--graph", "no-such-graph.json"], &["no-such-graph.json"]);
    let of = |name: &str, from: &str, to: &str| scratch(name, whole.replacen(from, to, 1).as_bytes());
    let op = of("op.json", "\"binary\"", "\"ternary\"");
    refuses(&["plan", "--graph", &op], &["op.json", "node 0 (`sum`)", "unknown variant `ternary`"]);
    let version = of("version.json", "\"version\":1", "\"version\":7");
    refuses(&["replay", &version], &["version.json", "version 7"]);
    let huge = of("huge.json", "\"bytes\":192", "\"bytes\":281474976710656");
    refuses(&["replay", &huge], &["huge.json", "--most-memory"]);
    refuses(&["plan", "--compare", &op, &op], &["op.json", "`format` is `weft-graph`"]);
    refuses(&["plan", "--graph", &shipped("competing_claims"), "--explain", "nobody"], &["nobody"]);
    let tensors = scratch("no.safetensors", b"12345678");
    refuses(&["replay", &shipped("competing_claims"), "--tensors", &tensors], &["no.safetensors"]);
}

#[test]
fn a_graph_is_run_alone_and_compared() {
    let graph = shipped("mask_chain_f16");
    let told = ok(&["replay", &graph, "--exact", "--against", "reference"]);
    assert!(told.contains("same out: F32") && told.contains("same state:cache"), "{told}");
    assert!(told.contains("reference: plan "), "{told}");
    let same = ok(&["replay", &graph, "--against", "cpu"]);
    assert!(same.contains("equal bit for bit") && !same.contains("differ"), "{same}");
    let unfused = ok(&["replay", &graph, "--against", "cpu", "--against-disable", "*"]);
    assert!(unfused.contains("allowed by contracts"), "{unfused}");
}

#[test]
fn what_went_in_can_be_saved_and_gives_the_same_out() {
    let graph = shipped("competing_claims");
    let [inputs, first, second] =
        ["in", "first", "second"].map(|n| scratch(&format!("{n}.safetensors"), b""));
    ok(&["replay", &graph, "--seed", "7", "--tensors-out", &inputs, "-o", &first]);
    ok(&["replay", &graph, "--seed", "8", "--tensors", &inputs, "-o", &second]);
    let read = |file: &str| References::read(Path::new(file)).floats("out.first");
    assert_eq!(read(&first), read(&second));
    assert_eq!(read(&first).len(), 48);
    let wrong = weft(&["replay", &shipped("paired_drafts"), "--backend", "cpu", "--tensors", &inputs]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text(&wrong.stderr).contains("is no weight, state or input of the graph"),
        "{}",
        text(&wrong.stderr)
    );
}
