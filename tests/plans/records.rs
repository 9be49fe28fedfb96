//! Plans as files, as pictures and side by side.

use weft_core::driver::Options;
use weft_core::plan::{Comparison, Placement, Plan, PlanFileError, PlanRecord};
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::delta::{SMALL, TRUE_SIZE, whole_pool};
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::{Fixture, delta::Layer, masks, plan_for, without};

fn layer() -> Fixture {
    masks::SMALL.then(Layer { states: whole_pool(1), ..SMALL }, "attention and layer")
}

fn planned(off: &[&str]) -> Plan {
    layer().plan(&[devices::cpu(&Default::default())], &without(off)).unwrap()
}

#[test]
fn a_plan_survives_a_file() {
    let model = graph(&described("qwen35moe", "tiny"), &ubatch(7));
    let model = plan_for(&model, &[devices::cpu(&Default::default())], &Options::default()).unwrap();
    for plan in [planned(&[]), planned(&["*"]), model] {
        let record = PlanRecord::from(&plan);
        let text = serde_json::to_vec(&record).unwrap();
        assert_eq!(PlanRecord::from_json(&text).unwrap(), record);
        assert_eq!(record.hash, format!("{:016x}", plan.hash));
        assert_eq!(record.dispatches.len(), plan.dispatches.len());
        assert_eq!(record.trail.len(), plan.trail.len());
        assert_eq!(record.graph.graph().unwrap(), *plan.graph);
    }
}

#[test]
fn what_is_no_plan_file_is_refused() {
    let mut value = serde_json::to_value(PlanRecord::from(&planned(&[]))).unwrap();
    let read = |value: &serde_json::Value| PlanRecord::from_json(value.to_string().as_bytes());
    assert!(matches!(PlanRecord::from_json(b"{"), Err(PlanFileError::Form { .. })));
    value["version"] = 9.into();
    assert_eq!(read(&value), Err(PlanFileError::Version { got: 9, want: 1 }));
    value["format"] = "weft-graph".into();
    assert!(matches!(read(&value), Err(PlanFileError::Format { .. })));
    assert!(matches!(PlanRecord::from_json(b"[]"), Err(PlanFileError::Format { .. })));
}

#[test]
fn every_refusal_says_why_in_words_and_by_name() {
    for off in [&[][..], &["*"], &["gdn_core_in_place"]] {
        for attempt in PlanRecord::from(&planned(off)).trail {
            for decline in attempt.declines {
                assert!(decline.text.len() > 10 && !decline.text.contains(" { "), "{}", decline.text);
                let name = decline.why.as_str().map(str::to_owned);
                let name = name.or_else(|| decline.why.as_object()?.keys().next().cloned()).unwrap();
                assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
            }
        }
    }
}

#[test]
fn a_comparison_names_who_runs_otherwise() {
    let [fused, plain] =
        [&[][..], &["gdn_core_in_place", "gdn_core"]].map(|off| PlanRecord::from(&planned(off)));
    let same = Comparison::of(&fused, &fused);
    assert!(same.changes.is_empty() && same.to_string().contains("the same launches"), "{same}");
    let told = Comparison::of(&fused, &plain);
    let norm = layer().node("q_norm").0;
    let change = told.changes.iter().find(|change| change.node == format!("node {norm} l2_norm (q_norm)"));
    let change = change.unwrap_or_else(|| panic!("{told}"));
    assert!(change.before.as_ref().is_some_and(|run| run.starts_with("gdn_core/")), "{told}");
    assert!(change.after.as_ref().is_some_and(|run| run.starts_with("l2_norm/")), "{told}");
    let (_, launches) = told.counts.iter().find(|(what, _)| *what == "launches").unwrap();
    assert_eq!(launches.map(|n| n as usize), [fused.dispatches.len(), plain.dispatches.len()]);
    assert!(!told.changes.iter().any(|change| change.node.contains("(attention)")), "{told}");
    assert!(told.to_string().contains(&format!("{} -> {}", fused.hash, plain.hash)));
}

#[test]
fn a_comparison_sees_nodes_that_one_plan_lacks_and_constants_that_changed() {
    let of = |layer: Layer| {
        let fixture = layer.graph();
        PlanRecord::from(&fixture.plan(&[devices::reference()], &Options::default()).unwrap())
    };
    let told = Comparison::of(&of(SMALL), &of(Layer { epilogue: None, ..SMALL })).to_string();
    assert!(told.contains("(gated)") && told.contains("+ not there"), "{told}");
    let told = Comparison::of(&of(SMALL), &of(Layer { snapshots: 2, ..SMALL })).to_string();
    assert!(told.contains("snapshots=1") && told.contains("snapshots=2"), "{told}");
}

#[test]
fn a_picture_has_every_node_that_computes_once() {
    let plan = planned(&[]);
    let dot = plan.dot();
    for id in plan.graph.node_ids() {
        let times = dot.matches(&format!("n{} [label=", id.0)).count();
        assert_eq!(times, usize::from(plan.placements[id.index()] != Placement::Alias), "{id:?}");
    }
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert_eq!(dot.matches("subgraph").count(), plan.dispatches.len());
}

#[test]
fn nodes_are_found_by_index_label_operation_and_tensor() {
    let plan = planned(&[]);
    let norm = layer().node("q_norm");
    for selector in [norm.0.to_string(), "q_norm".to_owned()] {
        assert_eq!(plan.select(&selector), [norm]);
    }
    assert_eq!(plan.select("l2_norm"), [norm, layer().node("k_norm")]);
    let result = plan.graph.node(norm).results[0];
    assert_eq!(plan.select(&format!("t{}", result.0)), [norm, layer().node("net")]);
    assert!(plan.select("cache").contains(&layer().node("gather")), "by a state");
    assert!(!plan.select("out").is_empty(), "by an output");
    assert!(plan.select("").is_empty() && plan.select("t99999").is_empty() && plan.select("tanh").is_empty());
}

#[test]
fn a_story_gives_strides_in_bytes_and_in_elements() {
    let fixture = Layer { states: whole_pool(1), ..TRUE_SIZE }.graph();
    let plan = fixture.plan(&[devices::reference()], &Options::default()).unwrap();
    let story = plan.explain(fixture.node("q_norm"));
    assert!(
        story.contains("strides [4, 512, 40960, 20971520] bytes ([1, 128, 10240, 5242880] elements)"),
        "{story}"
    );
}

#[test]
fn a_split_says_why_it_is_there() {
    let first = Faulty::around(devices::reference())
        .named("small")
        .without(|offer| offer.contract.kernel == "top_k")
        .shared();
    let both = [first, devices::reference()];
    let plan = layer().plan(&both, &Options::default()).unwrap();
    assert_eq!(plan.splits.len(), 3);
    let whys: Vec<String> = plan.splits.iter().map(|split| plan.why_split(split).join("; ")).collect();
    assert!(whys[1].contains("small has no top_k"), "{whys:?}");
    let count = plan.graph.nodes.len();
    let placement = (0..count).map(|node| Some(usize::from(node * 2 > count))).collect();
    let pair = [devices::reference(), devices::reference()];
    let placed = layer().plan(&pair, &Options { placement, ..Options::default() }).unwrap();
    let away = placed.splits.iter().find(|split| split.device == 1).unwrap();
    assert!(placed.why_split(away)[0].contains("the caller placed"), "{:?}", placed.why_split(away));
}
