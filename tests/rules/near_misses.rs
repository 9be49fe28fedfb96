//! Every graph that differs from a firing fixture by one change computes what the sequential interpreter computes,
//! whether the rule still takes it or not.

use crate::expect::exact;
use weft_core::rules::FUSED;
use weft_tests::devices;
use weft_tests::graphs::misses::{self, Firing, Miss};
use weft_tests::graphs::{Fixture, claims, plan_for, same, without};
use weft_tests::naive::interpret;

/// Runs all near misses of one fixture on both devices; gives how many the rule took and how many it refused.
fn run(firing: &Firing) -> (usize, usize) {
    let devices = [devices::cpu(&Default::default()), devices::reference()];
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
