//! S13: a graph plans and computes alike wherever it is cut, and whichever kernel variants a device has.

use std::collections::BTreeSet;
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::contract::Tolerance;
use weft_core::driver::Options;
use weft_core::graph::Op;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::casts::{self, Cast};
use weft_tests::graphs::models::tiny;
use weft_tests::graphs::random::program;
use weft_tests::graphs::{Fixture, delta, masks, same, segmented, sharing, states, without};
use weft_tests::naive::interpret;
use weft_tests::{Random, devices};

/// Two devices with memories of their own. Away from home, states hold NaN until somebody brings them.
fn pair(inner: &Arc<dyn Backend>, fixture: &Fixture) -> [Arc<dyn Backend>; 2] {
    let home = Faulty::around(Arc::clone(inner)).named("cpu0").shared();
    let away =
        Faulty::around(Arc::clone(inner)).named("cpu1").forgetting(same::states(&fixture.graph)).shared();
    [home, away]
}

fn placed(placement: Vec<usize>, off: &[&str]) -> Options {
    let placement = placement.into_iter().map(Some).collect();
    Options { exact: true, placement, ..without(off) }
}

fn small() -> Vec<Fixture> {
    vec![
        delta::Layer { states: delta::whole_pool(2), seqs: 2, tokens: 3, ..delta::SMALL }.fixture("pool"),
        segmented::one(4).fixture("segmented"),
        casts::fixture(Cast::IntoSelf),
        states::whole(delta::Writer::Copied, Some(0)),
        states::convolution(true),
        sharing::interleaved(),
        sharing::windows(),
        sharing::partial_writes(),
    ]
}

#[test]
fn a_cut_at_any_node_changes_nothing() {
    let reference = devices::reference();
    for fixture in small() {
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let devices = pair(&reference, &fixture);
        let count = fixture.graph.nodes.len();
        for cut in 0..=count {
            for first in [0, 1] {
                let placement = (0..count).map(|node| if node < cut { first } else { 1 - first }).collect();
                let what = format!("{}, cut at {cut}, first on {first}", fixture.name);
                let options = placed(placement, &["*"]);
                let got = fixture.run(&devices, &options).unwrap_or_else(|e| panic!("{what}: {e}"));
                same::check(&fixture.graph, &got, &want, Tolerance::EXACT)
                    .unwrap_or_else(|e| panic!("{what}: {e}"));
            }
        }
    }
}

#[test]
fn a_cut_at_any_node_leaves_fused_claims_right() {
    let tuned = devices::cpu(&Default::default());
    for fixture in small() {
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let devices = pair(&tuned, &fixture);
        let count = fixture.graph.nodes.len();
        for cut in 0..=count {
            let placement = (0..count).map(|node| usize::from(node >= cut)).collect();
            let what = format!("{}, cut at {cut}", fixture.name);
            let got =
                fixture.run(&devices, &placed(placement, &[])).unwrap_or_else(|e| panic!("{what}: {e}"));
            let apart = got
                .plan
                .dispatches
                .iter()
                .all(|d| d.nodes.iter().all(|node| (node.index() >= cut) == (d.device == 1)));
            assert!(apart, "{what}: a claim spans the cut");
            let tolerance = same::tolerance(&got.plan);
            same::check(&fixture.graph, &got, &want, tolerance).unwrap_or_else(|e| panic!("{what}: {e}"));
        }
    }
}

fn scattered(fixture: &Fixture, inner: &Arc<dyn Backend>, rounds: u64) {
    let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
    let devices = pair(inner, fixture);
    let mut splits = 0;
    for seed in 0..rounds {
        let mut random = Random::named(&fixture.name, seed);
        let placement: Vec<usize> = fixture.graph.node_ids().map(|_| random.below(2) as usize).collect();
        let what = format!("{}, placement {seed}", fixture.name);
        let off: &[&str] = if seed % 2 == 0 { &[] } else { &["*"] };
        let got = fixture.run(&devices, &placed(placement, off)).unwrap_or_else(|e| panic!("{what}: {e}"));
        splits += got.plan.census().splits;
        let tolerance = same::tolerance(&got.plan);
        same::check(&fixture.graph, &got, &want, tolerance).unwrap_or_else(|e| panic!("{what}: {e}"));
    }
    assert!(splits as u64 > 2 * rounds, "{}: {splits} splits in {rounds} plans", fixture.name);
}

#[test]
fn random_placements_of_whole_models_change_nothing() {
    let tuned = devices::cpu(&Default::default());
    for arch in ["qwen35", "qwen35moe", "qwen3next", "qwen4exp", "qwen3", "llama"] {
        scattered(&tiny(arch), &tuned, 6);
    }
}

#[test]
fn random_placements_of_attention_and_layer_change_nothing() {
    let tuned = devices::cpu(&Default::default());
    for fixture in masks::all() {
        scattered(&fixture, &tuned, 6);
    }
}

#[test]
fn random_placements_of_random_programs_change_nothing() {
    let reference = devices::reference();
    for seed in 0..60 {
        let fixture = program(seed, 40);
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let devices = pair(&reference, &fixture);
        for round in 0..3 {
            let mut random = Random::named("placement", seed * 8 + round);
            let placement = fixture.graph.node_ids().map(|_| random.below(2) as usize).collect();
            let what = format!("program {seed}, placement {round}");
            let got =
                fixture.run(&devices, &placed(placement, &["*"])).unwrap_or_else(|e| panic!("{what}: {e}"));
            same::check(&fixture.graph, &got, &want, Tolerance::EXACT)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
        }
    }
}

#[test]
fn random_programs_on_three_devices_with_rules_on_change_nothing() {
    let tuned = devices::cpu(&Default::default());
    for seed in 100..200 {
        let fixture = program(seed, 50);
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        let [home, away] = pair(&tuned, &fixture);
        let states = same::states(&fixture.graph);
        let third = Faulty::around(Arc::clone(&tuned)).named("cpu2").forgetting(states).shared();
        let mut random = Random(seed);
        // Stretches of several nodes, so that claims fit between two cuts.
        let mut device = 0;
        let mut place = |_| {
            if random.below(6) == 0 {
                device = random.below(3) as usize;
            }
            device
        };
        let placement = fixture.graph.node_ids().map(&mut place).collect();
        let devices = [home, away, third];
        let got = fixture.run(&devices, &placed(placement, &[])).unwrap_or_else(|e| panic!("{seed}: {e}"));
        let tolerance = same::tolerance(&got.plan);
        same::check(&fixture.graph, &got, &want, tolerance).unwrap_or_else(|e| panic!("{seed}: {e}"));
    }
}

#[test]
fn any_two_variants_may_be_missing() {
    let tuned = devices::cpu(&Default::default());
    let fixture = tiny("qwen35");
    let want = fixture.run(&[devices::reference()], &Options { exact: true, ..without(&["*"]) }).unwrap();
    let tolerance = same::tolerance(&want.plan);
    let base = fixture.run(&[Arc::clone(&tuned)], &Options { exact: true, ..Options::default() }).unwrap();
    let used: BTreeSet<(&str, &str)> = base.plan.dispatches.iter().map(|d| (d.kernel, d.variant)).collect();
    let used: Vec<_> = used.into_iter().filter(|(_, variant)| *variant != "reference").collect();
    assert!(used.len() > 6, "{used:?}");
    for (at, first) in used.iter().enumerate() {
        for second in &used[at..] {
            let device = Faulty::around(Arc::clone(&tuned)).without(|offer| {
                let it = (offer.contract.kernel, offer.variant);
                it == *first || it == *second
            });
            let what = format!("without {first:?} and {second:?}");
            let options = Options { exact: true, ..Options::default() };
            let got = fixture.run(&[device.shared()], &options).unwrap_or_else(|e| panic!("{what}: {e}"));
            same::check(&fixture.graph, &got, &want, tolerance).unwrap_or_else(|e| panic!("{what}: {e}"));
        }
    }
}

#[test]
fn views_never_cause_a_cut() {
    let fixture = delta::SMALL.fixture("layer");
    let devices = pair(&devices::reference(), &fixture);
    let views = |id| fixture.graph.node(id).op == Op::View;
    let placement = fixture.graph.node_ids().map(|id| usize::from(views(id))).collect();
    let plan = fixture.plan(&devices, &placed(placement, &[])).unwrap();
    assert_eq!(plan.splits.len(), 1);
}
