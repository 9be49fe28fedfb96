//! What the tests of all rules ask.

use std::sync::Arc;
use weft_core::driver::{Options, State, Why};
use weft_core::graph::Graph;
use weft_core::plan::Plan;
use weft_tests::devices;
use weft_tests::graphs::edit::{Change, changed};
use weft_tests::graphs::{Fixture, claims, labelled, plan_for, same, without};
use weft_tests::naive::interpret;

/// With exact kernels only.
pub fn exact() -> Options {
    Options { exact: true, ..Options::default() }
}

/// The rule makes this many claims on the fixture, and on the tuned and the reference device the result is that of the
/// sequential interpreter and of the unfused plan.
pub fn fires(fixture: &Fixture, rule: &str, times: usize) {
    let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
    for device in [devices::complete(), devices::reference()] {
        let devices = [device];
        let fused = fixture.run(&devices, &exact()).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
        assert_eq!(claims(&fused.plan, rule), times, "{}: {:?}", fixture.name, fused.plan.census().rules);
        let plain = Options { exact: true, ..without(&["*"]) };
        let plain = fixture.run(&devices, &plain).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
        let tolerance = same::tolerance(&plain.plan);
        for got in [&fused, &plain] {
            same::check(&fixture.graph, got, &want, tolerance)
                .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
        }
    }
}

/// The graph of a fixture with one change at a labelled node.
pub fn near(fixture: &Fixture, label: &str, change: Change) -> Fixture {
    let name = format!("with {change:?} at {label}");
    let made = changed(&fixture.graph, fixture.node(label), &change);
    fixture.with(&name, made.unwrap_or_else(|| panic!("{} {name} is no legal graph", fixture.name)).graph)
}

/// The final reason for which a rule was refused at a labelled root.
pub fn reason(plan: &Plan, rule: &str, root: &str) -> Option<Why> {
    let root = labelled(&plan.graph, root);
    let attempt = plan.trail.iter().rfind(|a| a.rule == rule && Some(a.root) == root)?;
    match attempt.state {
        State::Offered | State::Matched => attempt.declines.last().map(|d| d.why.clone()),
        _ => None,
    }
}

/// The plan of a graph on the reference device.
pub fn planned(graph: &Arc<Graph>) -> Plan {
    plan_for(graph, &[devices::reference()], &Options::default()).unwrap()
}

/// The rule refuses this root for a reason that `fits`, and the graph still gives what the interpreter gives.
pub fn refuses(fixture: &Fixture, rule: &str, root: &str, fits: impl Fn(&Why) -> bool) {
    let plan = planned(&fixture.graph);
    let why = reason(&plan, rule, root);
    assert!(why.as_ref().is_some_and(fits), "{}: {rule} at {root}: {why:?}", fixture.name);
    right(fixture);
}

/// As [`refuses`], and another rule makes one claim.
pub fn leaves(fixture: &Fixture, rule: &str, root: &str, to: &str, fits: impl Fn(&Why) -> bool) {
    refuses(fixture, rule, root, fits);
    assert_eq!(claims(&planned(&fixture.graph), to), 1, "{}", fixture.name);
}

/// On the tuned and the reference device the graph gives what the sequential interpreter gives.
pub fn right(fixture: &Fixture) {
    let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
    for device in [devices::cpu(&Default::default()), devices::complete(), devices::reference()] {
        let got = fixture.run(&[device], &exact()).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
        let plain = plan_for(&fixture.graph, &[devices::reference()], &without(&["*"])).unwrap();
        let tolerance = same::tolerance(&plain);
        same::check(&fixture.graph, &got, &want, tolerance)
            .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
    }
}
