//! Every graph that differs from a firing fixture by one change computes what the sequential interpreter computes,
//! whether the rule still takes it or not.

use crate::expect::exact;
use weft_core::contract::Stride;
use weft_core::driver::Why;
use weft_core::graph::NodeId;
use weft_core::plan::PlanError;
use weft_core::rules::FUSED;
use weft_core::run::RunError;
use weft_tests::graphs::edit::{Between, Change, changed, changes};
use weft_tests::graphs::misses::{self, Firing, Miss};
use weft_tests::graphs::{Fixture, claims, plan_for, same, without};
use weft_tests::naive::interpret;
use weft_tests::run::floats;
use weft_tests::{Random, devices};

/// Runs all near misses of one fixture on both devices; gives how many the rule took and how many it refused.
fn run(firing: &Firing) -> (usize, usize) {
    let devices = [devices::complete(), devices::reference()];
    let (mut taken, mut refused) = (0, 0);
    for Miss { name, graph, .. } in firing.misses() {
        let fixture = Fixture { name, graph, data: firing.fixture.data.clone() };
        let want = interpret(&fixture.graph, &fixture.filled(3)).unwrap();
        let plain = plan_for(&fixture.graph, &devices[1..], &without(&["*"])).unwrap();
        let tolerance = same::tolerance(&plain);
        for device in &devices {
            let device = std::slice::from_ref(device);
            let got = weft_tests::run::run(&fixture.graph, device, &exact(), &fixture.filled(3));
            let got = got.unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
            same::check(&fixture.graph, &got, &want, tolerance)
                .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
            match claims(&got.plan, firing.rule.name) {
                0 => refused += 1,
                _ => taken += 1,
            }
        }
    }
    (taken, refused)
}

#[test]
fn near_misses_of_the_delta_net_rules_compute_what_the_graph_says() {
    for firing in misses::all().iter().filter(|f| f.rule.name.starts_with("gdn")) {
        let (_, refused) = run(firing);
        assert!(refused > 50, "{}: {refused} near misses", firing.rule.name);
    }
}

#[test]
fn near_misses_of_the_smaller_rules_compute_what_the_graph_says() {
    for firing in misses::all().iter().filter(|f| !f.rule.name.starts_with("gdn")) {
        let (taken, refused) = run(firing);
        assert!(refused > 10 && taken > 0, "{}: {refused} refused, {taken} taken", firing.rule.name);
    }
}

#[test]
fn every_rule_has_a_fixture() {
    assert_eq!(misses::all().len(), FUSED.len());
}

/// A graph after some random changes, or none if the last of them was not possible.
fn wandered(firing: &Firing, random: &mut Random) -> Option<Fixture> {
    let mut graph = (*firing.fixture.graph).clone();
    let mut names = Vec::new();
    for _ in 0..2 + random.below(2) {
        let node = NodeId(random.below(graph.nodes.len() as u64) as u32);
        let change = random.pick(&changes(&graph, node));
        // Half precision rounds where two ways of computing may part; a name can be given once.
        let half = matches!(change, Change::Via(_, Between::Half));
        let named = matches!(change, Change::Reader | Change::Output) && graph.output("changed").is_some();
        if !half && !named {
            graph = changed(&graph, node, &change)?.graph;
            names.push(format!("{change:?} at {node:?}"));
        }
    }
    Some(firing.fixture.with(&names.join(", "), graph))
}

/// Only a write to rows that lie on each other has no kernel at all.
fn is_hopeless(error: &RunError) -> bool {
    let RunError::Plan(PlanError::Uncovered(lost)) = error else { return false };
    lost.iter().all(|uncovered| {
        let last = uncovered.attempts.last().and_then(|attempt| attempt.declines.last());
        matches!(last.map(|d| &d.why), Some(Why::Stride { want: Stride::AtLeastPacked, .. }))
    })
}

#[test]
fn several_changes_at_once_compute_what_the_graph_says() {
    let devices = [devices::complete(), devices::reference()];
    let mut runs = 0;
    for firing in misses::all() {
        let mut random = Random::named(firing.rule.name, 1);
        for _ in 0..250 {
            let Some(fixture) = wandered(&firing, &mut random) else { continue };
            let data = fixture.filled(random.next());
            let Ok(want) = interpret(&fixture.graph, &data) else { continue };
            let plain = match plan_for(&fixture.graph, &devices[1..], &without(&["*"])) {
                Ok(plain) => plain,
                Err(error) => {
                    assert!(is_hopeless(&error.into()), "{}", fixture.name);
                    continue;
                }
            };
            if want.outputs.values().any(|bytes| floats(bytes).iter().any(|v| v.is_nan())) {
                continue;
            }
            for device in &devices {
                let got = weft_tests::run::run(&fixture.graph, std::slice::from_ref(device), &exact(), &data);
                let got = got.unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
                same::check(&fixture.graph, &got, &want, same::tolerance(&plain))
                    .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
                runs += 1;
            }
        }
    }
    assert!(runs > 1000, "{runs} runs");
}
