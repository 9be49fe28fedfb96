//! S11: order follows from byte ranges and versions, never from the identity of tensors or nodes.

use weft_core::contract::Tolerance;
use weft_core::driver::Options;
use weft_core::graph::{DType, Dependencies, Op};
use weft_tests::devices;
use weft_tests::graphs::casts::{self, Cast};
use weft_tests::graphs::edit::shuffled;
use weft_tests::graphs::import::Import;
use weft_tests::graphs::random::program;
use weft_tests::graphs::{Fixture, catalog, same, sharing, without};
use weft_tests::naive::interpret;
use weft_tests::run::Data;
use weft_tests::{Random, graphs};

const PROGRAMS: u64 = 300;

#[test]
fn unfused_random_programs_equal_the_sequential_interpreter_bit_for_bit() {
    let device = [devices::reference()];
    for seed in 0..PROGRAMS {
        let fixture = program(seed, 40);
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let got = fixture.run(&device, &without(&["*"])).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        same::check(&fixture.graph, &got, &want, Tolerance::EXACT)
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}

#[test]
fn fused_random_programs_equal_the_sequential_interpreter() {
    let devices = [devices::cpu(&Default::default())];
    let mut fused = 0;
    for seed in 0..PROGRAMS {
        let fixture = program(seed, 40);
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let exact = Options { exact: true, ..Options::default() };
        let got = fixture.run(&devices, &exact).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        fused += got.plan.census().fused;
        let tolerance = same::tolerance(&got.plan);
        same::check(&fixture.graph, &got, &want, tolerance).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
    assert!(fused > PROGRAMS as usize, "rules fired on {fused} nodes only");
}

#[test]
fn the_order_of_the_node_list_does_not_matter() {
    let device = [devices::reference()];
    for seed in 0..PROGRAMS / 2 {
        let fixture = program(seed, 40);
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let mixed = fixture.with("shuffled", shuffled(&fixture.graph, &mut Random(seed)));
        mixed.graph.verify().unwrap();
        for options in [without(&["*"]), Options::default()] {
            let got = mixed.run(&device, &options).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let tolerance =
                if options.disabled.is_empty() { same::tolerance(&got.plan) } else { Tolerance::EXACT };
            same::check(&mixed.graph, &got, &want, tolerance).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        }
    }
}

#[test]
fn every_fixture_equals_the_sequential_interpreter() {
    let device = [devices::reference()];
    for fixture in catalog::all() {
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let got = fixture.run(&device, &without(&["*"])).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
        same::check(&fixture.graph, &got, &want, Tolerance::EXACT)
            .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
    }
}

#[test]
fn a_copy_into_its_own_result_schedules_in_one_pass() {
    let fixture = casts::fixture(Cast::IntoSelf);
    let cast = fixture.graph.node(fixture.node("cast"));
    assert_eq!(cast.op, Op::Copy);
    assert_eq!(cast.sources[1], Some(cast.results[0]), "the copy names its own result");
    let order = Dependencies::of(&fixture.graph).order().unwrap();
    assert_eq!(order.len(), fixture.graph.nodes.len());
    let plan = fixture.plan(&[devices::reference()], &Options::default()).unwrap();
    assert!(plan.revoked.is_empty());
    assert_eq!(graphs::claims(&plan, "gdn_core_in_place"), 1, "the layer behind the cast is fused");
}

#[test]
fn a_copy_between_ranges_that_overlap_is_refused_with_the_reason() {
    let mut g = Import::default();
    let buffer = g.state("buffer", DType::F32, &[4, 6]);
    let (source, target) = (g.slice(buffer, 1, 0, 4), g.slice(buffer, 1, 1, 4));
    g.op(Op::Copy, &[source, target]);
    g.label("shift");
    let fixture = Fixture::new("a shift in place", g, Data::new());
    let error = fixture.plan(&[devices::reference()], &Options::default()).unwrap_err();
    assert!(
        error.to_string().contains("single declined at node 2: out and x share bytes, and one is written"),
        "{error}"
    );
}

#[test]
fn sequences_at_interleaved_ranges_do_not_wait_for_each_other() {
    let fixture = sharing::interleaved();
    let dependencies = Dependencies::of(&fixture.graph);
    for node in fixture.graph.node_ids() {
        let label = &fixture.graph.node(node).label;
        for edge in dependencies.after(node) {
            let other = &fixture.graph.node(edge.node).label;
            assert!(
                label == other || label.is_empty(),
                "{node:?} of {label} orders {:?} of {other}",
                edge.node
            );
        }
    }
}
