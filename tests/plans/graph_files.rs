//! Graph files: what is written is read back, in versions or in the order of the nodes; and no file does harm.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::driver::Options;
use weft_core::graph::file::{GraphFileError, GraphRecord, MOST_BYTES, MOST_NODES, MOST_SIZE};
use weft_core::graph::{Graph, Op, OpKind};
use weft_core::replay::{self, Loading};
use weft_tests::graphs::casts::{self, Cast};
use weft_tests::graphs::models::{MODELS, described, graph, ubatch};
use weft_tests::graphs::{catalog, delta, masks, plan_for, random, sharing, states};
use weft_tests::{Random, devices, fixtures};

fn read(text: &str) -> Graph {
    Graph::from_json(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn hash(graph: Graph) -> u64 {
    plan_for(&Arc::new(graph), &[devices::reference()], &Options::default()).unwrap().hash
}

/// The file without versions, as an engine writes it that knows none.
fn without_versions(graph: &Graph) -> String {
    let mut record = GraphRecord::from(graph);
    record.tensors.iter_mut().for_each(|tensor| tensor.version = None);
    serde_json::to_string(&record).unwrap()
}

#[test]
fn every_fixture_survives_a_file() {
    for fixture in catalog::all() {
        assert_eq!(read(&fixture.graph.to_json()), *fixture.graph, "{}", fixture.name);
    }
}

#[test]
fn every_model_survives_a_file() {
    for (arch, size) in MODELS {
        let model = described(arch, size);
        for tokens in [1, 7] {
            let graph = graph(&model, &ubatch(tokens));
            let text = graph.to_json();
            assert_eq!(read(&text), *graph, "{arch} {size}");
            assert_eq!(text, read(&text).to_json(), "{arch} {size}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_survive_a_file(seed in any::<u64>(), steps in 1usize..40) {
        let graph = random::program(seed, steps).graph;
        prop_assert_eq!(&read(&graph.to_json()), &*graph);
    }

    #[test]
    fn random_programs_are_the_same_in_the_order_of_their_nodes(seed in any::<u64>(), steps in 1usize..20) {
        let graph = random::program(seed, steps).graph;
        prop_assert_eq!(hash(read(&without_versions(&graph))), hash((*graph).clone()));
    }
}

#[test]
fn without_versions_the_order_of_the_nodes_counts() {
    let mut fixtures = catalog::all();
    fixtures.retain(|f| !f.name.contains("T 6") && !f.name.contains("ratio"));
    for fixture in fixtures {
        let ordered = read(&without_versions(&fixture.graph));
        assert_eq!(hash(ordered), hash((*fixture.graph).clone()), "{}", fixture.name);
    }
}

#[test]
fn a_copy_that_names_its_own_result_is_the_cast_that_it_is() {
    let layer = delta::Layer { states: delta::whole_pool(1), ..delta::SMALL };
    let chain = masks::SMALL.then(layer, "attention and layer");
    let plain = masks::Attention { into_self: false, ..masks::SMALL }.then(layer, "with a plain cast");
    let [own, cast] = [Cast::IntoSelf, Cast::Plain].map(casts::fixture);
    for (own, plain) in [(own, cast), (chain, plain)] {
        for text in [own.graph.to_json(), without_versions(&own.graph)] {
            let mut graph = read(&text);
            let node = own.node("cast");
            assert_eq!(graph.normalise(), [node], "{}", own.name);
            assert!(matches!(graph.node(node).op, Op::Cast { .. }));
            graph.verify().unwrap();
            assert!(graph.normalise().is_empty(), "once is enough");
            assert_eq!(hash(graph), hash((*plain.graph).clone()));
        }
    }
}

#[test]
fn copies_into_something_else_stay_copies() {
    for fixture in [sharing::shuffled_copies(), states::whole(delta::Writer::Nobody, None)] {
        let mut graph = (*fixture.graph).clone();
        assert!(graph.normalise().is_empty());
        assert_eq!(graph, *fixture.graph);
    }
}

#[test]
fn every_operation_is_written_by_the_name_of_its_kernel() {
    let mut seen = std::collections::BTreeSet::new();
    for fixture in catalog::all() {
        let record = GraphRecord::from(&*fixture.graph);
        for (node, written) in fixture.graph.nodes.iter().zip(&record.nodes) {
            let kind = node.op.kind();
            let want = if kind == OpKind::Cast { "cast" } else { kind.signature().stem };
            assert_eq!(written.op, want);
            seen.insert(want);
        }
    }
    assert!(seen.len() > 20, "{seen:?}");
}

fn small() -> Value {
    serde_json::from_str(&casts::fixture(Cast::IntoSelf).graph.to_json()).unwrap()
}

#[test]
fn what_is_wrong_with_a_file_is_told_by_entry() {
    let node = casts::fixture(Cast::IntoSelf).node("top_k").0;
    let path = |list: &str, index: u32, field: &str| format!("/{list}/{index}/{field}");
    let cast = casts::fixture(Cast::IntoSelf).node("cast").0;
    let faults = [
        ("/format".to_owned(), json!("gguf"), "`format` is `gguf`"),
        ("/version".to_owned(), json!(2), "version 2 of the graph format"),
        (path("storages", 0, "kind"), json!("wight"), "storage 0: unknown variant `wight`"),
        (path("storages", 0, "name"), json!(""), "storage 0: a weight, state or input has a `name`"),
        (path("storages", 0, "bytes"), json!(MOST_SIZE + 1), "storage 0 (`mask`): `bytes` is"),
        (path("storages", 0, "bytes"), json!(3), "leaves its storage of 3 bytes"),
        (path("storages", 1, "name"), json!("mask"), "storage 1 (`mask`): storage name `mask` is used twice"),
        (path("tensors", 2, "dtype"), json!("F33"), "tensor 2: the element type `F33` is unknown"),
        (path("tensors", 2, "storage"), json!(9999), "tensor 2: tensor TensorId(2) names storage"),
        (path("tensors", 2, "shape"), json!([1, 2, 3, 4, 5]), "tensor 2: `shape` and `strides` hold one"),
        (path("tensors", 2, "shape"), json!([]), "tensor 2: `shape` and `strides` hold one"),
        (path("tensors", 2, "shape"), json!([1u64 << 40, 1u64 << 40]), "tensor 2: `shape` is"),
        (path("tensors", 2, "offset"), json!(-4), "tensor 2: invalid value: integer `-4`"),
        (path("tensors", 2, "version"), Value::Null, "tensor 2: it has no `version`"),
        (path("nodes", node, "op"), json!("top_p"), "(`top_k`): `top_p`: unknown variant `top_p`"),
        (path("nodes", node, "attributes"), json!({}), "`top_k` has no `attributes`, and it needs some"),
        (path("nodes", node, "attributes"), json!({"k": 0}), "(`top_k`): top_k: attribute `k`"),
        (path("nodes", node, "attributes"), json!({"n": 1}), "unknown field `n`, expected `k`"),
        (path("nodes", cast, "attributes"), json!({"to": "F32"}), "(`cast`): `copy` takes no attributes"),
        (path("nodes", node, "sources"), json!([]), "(`top_k`): top_k: source `x` is missing"),
        (path("nodes", node, "sources"), json!([123_456]), "(`top_k`): tensor TensorId(123456) does not"),
        (path("nodes", node, "sources"), json!(vec![0; 17]), "(`top_k`): 17 `sources`"),
        (path("nodes", node, "results"), json!([0]), "(`top_k`): node NodeId("),
        ("/outputs/0/tensor".to_owned(), json!(123_456), "output 0 (`out`)"),
    ];
    for (path, value, want) in faults {
        let mut file = small();
        let (entry, field) = path.rsplit_once('/').unwrap();
        file.pointer_mut(entry).unwrap()[field] = value;
        let error = Graph::from_json(file.to_string().as_bytes()).expect_err(&path).to_string();
        assert!(error.contains(want), "{path}: `{want}` is not in: {error}");
    }
}

#[test]
fn long_lists_and_long_files_are_refused_before_they_are_kept() {
    let nodes = "0,".repeat(MOST_NODES);
    let file = format!(
        "{{\"format\":\"weft-graph\",\"version\":1,\"storages\":[],\"tensors\":[],\"nodes\":[{nodes}0],\"outputs\":[]}}"
    );
    let error = Graph::from_json(file.as_bytes()).unwrap_err().to_string();
    assert!(error.contains(&format!("more than {MOST_NODES} entries")), "{error}");
    let long = vec![b' '; MOST_BYTES as usize + 1];
    assert!(matches!(Graph::from_json(&long), Err(GraphFileError::TooLarge { .. })));
    let deep = "[".repeat(100_000);
    assert!(matches!(Graph::from_json(deep.as_bytes()), Err(GraphFileError::Form { .. })));
    let unknown = small().to_string().replacen("\"format\"", "\"author\":1,\"format\"", 1);
    let error = Graph::from_json(unknown.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("unknown field `author`") && error.contains("docs/graphs.md"), "{error}");
}

/// Numbers that overflow something if nobody looks.
const HARD: [u64; 10] = [0, 1, 3, 1 << 31, 1 << 32, 1 << 40, MOST_SIZE, MOST_SIZE + 1, 1 << 63, u64::MAX];

/// One number, text, entry or byte of a file replaced.
fn damaged(file: &Value, random: &mut Random) -> String {
    let mut file = file.clone();
    if random.below(4) == 0 {
        let mut bytes = file.to_string().into_bytes();
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = random.pick(b"0123456789-\"[]{},:truefalsn. ");
        return String::from_utf8_lossy(&bytes).into_owned();
    }
    let list = random.pick(&["storages", "tensors", "tensors", "nodes", "nodes", "outputs"]);
    let Some(entries) = file[list].as_array_mut() else { return file.to_string() };
    let at = random.below(entries.len() as u64) as usize;
    let entry = &mut entries[at];
    let names: Vec<String> = entry.as_object().unwrap().keys().cloned().collect();
    let name = &names[random.below(names.len() as u64) as usize];
    let value = match &mut entry[name] {
        Value::Array(items) if !items.is_empty() && random.below(3) > 0 => {
            let at = random.below(items.len() as u64) as usize;
            &mut items[at]
        }
        other => other,
    };
    *value = match random.below(4) {
        0 => json!(random.pick(&HARD)),
        1 => json!(random.below(40)),
        2 => json!(random.pick(&["copy", "view", "fill", "set_rows", "F16", "Q4_K", "state", "activation"])),
        _ => Value::Null,
    };
    file.to_string()
}

#[test]
fn a_damaged_file_is_refused_or_planned_and_run_and_nothing_worse() {
    let layer = delta::Layer { states: delta::whole_pool(2), seqs: 2, tokens: 3, ..delta::SMALL };
    let graphs = [
        casts::fixture(Cast::IntoSelf).graph,
        layer.graph().graph,
        sharing::partial_writes().graph,
        random::program(7, 30).graph,
        graph(&described("qwen4exp", "tiny"), &ubatch(7)),
    ];
    let (mut refused, mut planned, mut ran) = (0, 0, 0);
    let devices = [devices::reference(), devices::complete()];
    for (index, graph) in graphs.iter().enumerate() {
        for ordered in [false, true] {
            let text = if ordered { without_versions(graph) } else { graph.to_json() };
            let file: Value = serde_json::from_str(&text).unwrap();
            let mut random = Random::named("damage", index as u64);
            for _ in 0..800 {
                match Graph::from_json(damaged(&file, &mut random).as_bytes()) {
                    Err(_) => refused += 1,
                    Ok(mut graph) => {
                        graph.normalise();
                        graph.verify().unwrap();
                        planned += 1;
                        let graph = Arc::new(graph);
                        let _ = plan_for(&graph, &devices[..1], &Options::default());
                        // What shows few bytes a million times is right, and slow.
                        if replay::memory(&graph) < 4 << 20 {
                            ran += devices.iter().filter(|device| runs(&graph, device)).count();
                        }
                    }
                }
            }
        }
    }
    let counts = format!("{refused} refused, {planned} planned, {ran} run");
    assert!(refused > 500 && planned > 500 && ran > 500, "{counts}");
}

/// Whether a graph runs on seeded data; anything but an error of its own is no answer.
fn runs(graph: &Arc<Graph>, device: &Arc<dyn Backend>) -> bool {
    let mut data = replay::Data::new();
    replay::fill(graph, &mut data, 1)
        .and_then(|()| {
            let device = std::slice::from_ref(device);
            replay::run(graph, device, &Options::default(), &data, Loading::Imported)
        })
        .is_ok()
}

/// A graph that the page shows, and the operations that it lists.
#[test]
fn the_page_about_graph_files_shows_a_graph_and_lists_every_operation() {
    let page = std::fs::read_to_string(fixtures::path("../../docs/graphs.md")).unwrap();
    let (_, shown) = page.split_once("```json\n").unwrap();
    let mut graph = read(shown.split_once("```").unwrap().0);
    assert_eq!(graph.normalise().len(), 1, "its cast names its own result");
    hash(graph);
    for fixture in catalog::all() {
        for node in GraphRecord::from(&*fixture.graph).nodes {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", node.op)));
            let row = row.unwrap_or_else(|| panic!("no row for {}", node.op));
            let untold = node.attributes.keys().find(|name| !row.contains(&format!("`{name}`")));
            assert_eq!(untold, None, "{row}");
        }
    }
    for kernel in OPERATIONS {
        assert!(page.contains(&format!("| `{kernel}` |")), "no row for {kernel}");
    }
}

/// Operations that few fixtures have.
const OPERATIONS: [&str; 12] = [
    "argsort",
    "block_attention",
    "block_scores",
    "clamp",
    "cumsum",
    "diag",
    "mul_mat_id",
    "sample",
    "solve_tri",
    "sum_rows",
    "swiglu",
    "tri",
];
