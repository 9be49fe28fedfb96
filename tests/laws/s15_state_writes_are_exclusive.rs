//! S15: a rule that reads a state and writes it back proves that nobody writes in between, and reads before it writes.

use weft_core::driver::{Options, State, Why};
use weft_tests::devices;
use weft_tests::graphs::delta::Writer;
use weft_tests::graphs::edit::{Change, changed};
use weft_tests::graphs::{Fixture, claims, same, segmented, states, without};
use weft_tests::naive::interpret;

fn refusal(fixture: &Fixture, rule: &str) -> Option<Why> {
    let plan = fixture.plan(&[devices::reference()], &Options::default()).unwrap();
    let attempt = plan.trail.iter().find(|a| a.rule == rule)?;
    matches!(attempt.state, State::Matched).then(|| attempt.declines.last().unwrap().why.clone())
}

/// Equal to the interpreter on every device, fused and not.
fn right(fixture: &Fixture) {
    let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
    for device in devices::found().into_iter().chain([devices::reference()]) {
        for off in [&[][..], &["gdn_layer"], &["*"]] {
            let options = Options { exact: true, ..without(off) };
            let got = fixture.run(std::slice::from_ref(&device), &options).unwrap();
            same::check(&fixture.graph, &got, &want, same::tolerance(&got.plan))
                .unwrap_or_else(|e| panic!("{} without {off:?}: {e}", fixture.name));
        }
    }
}

#[test]
fn a_writer_between_gather_and_copy_is_named() {
    for fresh in [None, Some(0)] {
        let fixture = states::whole(Writer::Copied, fresh);
        let writer = fixture.node("writer");
        assert_eq!(refusal(&fixture, "gdn_core_in_place"), Some(Why::WriteBetween { writer, port: "state" }));
        right(&fixture);
    }
}

#[test]
fn without_a_writer_in_between_the_pool_is_updated_in_place() {
    for fresh in [None, Some(0), Some(1)] {
        let fixture = states::whole(Writer::Nobody, fresh);
        let plan = fixture.plan(&[devices::reference()], &Options::default()).unwrap();
        assert_eq!(claims(&plan, "gdn_core_in_place"), 1);
        right(&fixture);
    }
}

#[test]
fn permuted_cleared_and_shared_pools_are_right_under_every_rule() {
    states::all().iter().filter(|f| f.name.starts_with("pool")).for_each(right);
}

#[test]
fn a_writer_to_the_pool_of_a_whole_layer_is_named() {
    let layer = segmented::one(5).fixture("segmented");
    for (label, source, port) in [("keep", 1, "history"), ("net", 5, "state")] {
        let made = changed(&layer.graph, layer.node(label), &Change::Patch(source)).unwrap();
        let fixture = layer.with(&format!("with a writer to the {port}"), made.graph);
        let plan = fixture.plan(&[devices::reference()], &Options::default()).unwrap();
        let attempt = plan.trail.iter().find(|a| a.rule == "gdn_layer").unwrap();
        if label == "keep" {
            let why = attempt.declines.last().map(|d| &d.why);
            assert!(matches!(why, Some(Why::WriteBetween { port: "history", .. })), "{why:?}");
        } else {
            assert_eq!(claims(&plan, "gdn_layer"), 1, "a write before the only access is no obstacle");
        }
        right(&fixture);
    }
}

#[test]
fn history_is_read_before_its_tail_is_overwritten() {
    // The tail that goes to the history is NaN: a kernel that stored it first would spread it to the first tokens.
    for tokens in [4, 7, 64, 65] {
        let layer = segmented::Segmented { poisoned: 3, ..segmented::one(tokens) };
        let fixture = layer.fixture(format!("poisoned tail, T {tokens}"));
        let clean = ((tokens - 3) * layer.dim * layer.value_heads) as usize;
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        for device in devices::found().into_iter().chain([devices::reference()]) {
            for off in [&[][..], &["gdn_layer"], &["*"]] {
                let options = Options { exact: true, ..without(off) };
                let got = fixture.run(std::slice::from_ref(&device), &options).unwrap();
                let (out, same) = (got.output("out"), want.output("out"));
                assert!(out[..clean].iter().all(|v| v.is_finite()), "{} without {off:?}", fixture.name);
                let width = (layer.dim * layer.value_heads) as usize;
                let tolerance = same::tolerance(&got.plan);
                weft_tests::compare::rows(&out[..clean], &same[..clean], width, tolerance)
                    .unwrap_or_else(|e| panic!("{} without {off:?}: {e:?}", fixture.name));
                let kept = got.state("history");
                assert!(kept.iter().any(|v| v.is_nan()), "the tail was stored");
            }
        }
    }
    for poisoned in [false, true] {
        let fixture = states::convolution(poisoned);
        for device in devices::found() {
            let got = fixture.run(&[device], &Options::default()).unwrap();
            assert!(got.output("early").iter().all(|v| v.is_finite()));
        }
    }
}
