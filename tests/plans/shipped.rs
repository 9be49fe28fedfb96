//! The graphs of the failure that weft grew from, as files: they are what the builders make, and each is planned and
//! computes the same on every backend, fused and not. `WEFT_UPDATE=graphs` writes the files.

use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::driver::Options;
use weft_core::graph::Graph;
use weft_core::plan::Placement;
use weft_tests::graphs::{Fixture, claims, plan_for, same, shipped, without};
use weft_tests::naive::interpret;
use weft_tests::{devices, hip, run};

/// The graph of a file, with copies of their own result as casts.
fn read(name: &str) -> Graph {
    let bytes = std::fs::read(shipped::path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    Graph::from_json(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn all() -> Vec<(&'static str, Fixture)> {
    shipped::true_size().into_iter().chain(shipped::small()).collect()
}

#[test]
fn the_files_are_what_the_builders_make() {
    let update = std::env::var("WEFT_UPDATE").is_ok_and(|what| what == "graphs");
    for (name, fixture) in all() {
        if update {
            std::fs::write(shipped::path(name), fixture.graph.to_json()).unwrap();
        }
        assert_eq!(read(name), *fixture.graph, "{name}: WEFT_UPDATE=graphs writes it anew");
    }
    let files = std::fs::read_dir(shipped::path("").parent().unwrap()).unwrap().count();
    assert_eq!(files, all().len(), "a file that nobody makes");
}

#[test]
fn every_file_is_planned_whole_with_and_without_rules() {
    for (name, _) in all() {
        let mut graph = read(name);
        graph.normalise();
        let graph = Arc::new(graph);
        for off in [&[][..], &["*"]] {
            for device in [devices::complete(), devices::reference()] {
                let plan = plan_for(&graph, &[device], &without(off)).unwrap();
                let views = plan.placements.iter().filter(|p| **p == Placement::Alias).count();
                let covered: usize = plan.dispatches.iter().map(|d| d.nodes.len()).sum();
                assert_eq!((views + covered, plan.splits.len()), (graph.nodes.len(), 1), "{name}");
            }
        }
    }
}

#[test]
fn the_layer_is_fused_in_place_unless_its_pool_is_written_in_between() {
    let wanted = [
        ("node_160", "gdn_core_in_place", 1),
        ("node_160_rows", "gdn_core_in_place", 1),
        ("cast_in_front", "gdn_core_in_place", 1),
        ("mask_chain_f16", "gdn_core_in_place", 1),
        ("mask_chain_f32", "gdn_core_in_place", 1),
        ("attention_before", "gdn_core_in_place", 1),
        ("no_attention_before", "gdn_core_in_place", 1),
        ("elided_alias", "gdn_core_in_place", 1),
        ("competing_claims", "add_rms_norm", 1),
        ("write_between", "gdn_core_in_place", 0),
        ("write_between", "gdn_core", 1),
        // The claim has the pool as a whole: a write to any cell of it stands in between.
        ("write_elsewhere", "gdn_core_in_place", 0),
        ("write_elsewhere", "gdn_core", 1),
        ("paired_drafts", "gdn_core_in_place", 2),
    ];
    for (name, rule, times) in wanted {
        let plan = plan_for(&Arc::new(read(name)), &[devices::complete()], &Options::default()).unwrap();
        assert_eq!(claims(&plan, rule), times, "{name}: {:?}", plan.census().rules);
    }
}

/// Runs every small file on these devices and compares with the sequential interpreter.
fn compute_the_same(devices: &[Arc<dyn Backend>]) {
    for (name, fixture) in shipped::small() {
        let graph = read(name);
        let data = fixture.filled(1);
        let want = interpret(&graph, &data).unwrap();
        let mut cast = graph.clone();
        cast.normalise();
        for graph in [Arc::new(graph), Arc::new(cast)] {
            for device in devices {
                for off in [&[][..], &["*"]] {
                    let what = format!("{name} on {} without {off:?}", device.name());
                    let options = Options { exact: true, ..without(off) };
                    let got = run::run(&graph, std::slice::from_ref(device), &options, &data)
                        .unwrap_or_else(|error| panic!("{what}: {error}"));
                    let plain = plan_for(&graph, &[devices::reference()], &without(&["*"])).unwrap();
                    same::check(&graph, &got, &want, same::tolerance(&plain))
                        .unwrap_or_else(|error| panic!("{what}: {error}"));
                }
            }
        }
    }
}

#[test]
fn every_small_file_computes_the_same_on_every_device() {
    compute_the_same(&devices::found());
}

#[test]
fn every_small_file_computes_the_same_on_stand_ins_for_hip() {
    // Fails if one is required and missing.
    devices::found();
    let devices: Vec<Arc<dyn Backend>> =
        hip::stand_ins().iter().map(|device| Arc::clone(device) as Arc<dyn Backend>).collect();
    compute_the_same(&devices);
}
