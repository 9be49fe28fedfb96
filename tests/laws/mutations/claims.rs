//! Claims that are lost or kept when they should not be.

use crate::s01_exact_cover::covered;
use std::sync::Arc;
use weft_core::driver::{Options, State};
use weft_core::plan::Placement;
use weft_core::replay::interpreted;
use weft_tests::devices;
use weft_tests::graphs::misses::{self, Firing};
use weft_tests::graphs::same;
use weft_tests::naive::interpret;

#[test]
fn a_revoked_claim_that_keeps_its_nodes_is_noticed() {
    for Firing { rule, fixture, root } in misses::all() {
        let plan = fixture.plan(&[devices::reference()], &Options::default()).unwrap();
        assert_eq!(covered(&plan), Ok(()));
        // What a planner leaves that revokes a claim and forgets to give back the nodes.
        let mut kept = plan.clone();
        let lost = kept.dispatches.iter().position(|d| d.rule == rule.name).expect("the rule fires");
        kept.dispatches.remove(lost);
        let after = |placement: &mut Placement| match placement {
            Placement::Dispatch(index) if *index > lost => *index -= 1,
            _ => {}
        };
        kept.placements.iter_mut().for_each(after);
        let attempt = kept.trail.iter_mut().find(|a| a.rule == rule.name && a.root == root);
        attempt.expect("an attempt").state = State::Revoked { reason: "no pipeline".to_owned() };
        let said = covered(&kept).expect_err(&fixture.name);
        assert!(said.contains(&fixture.graph.describe(root)) || said.contains("0 times"), "{said}");
        let data = fixture.filled(1);
        let want = interpret(&fixture.graph, &data).unwrap();
        let got = interpreted(Arc::new(kept), &data).unwrap();
        let got = same::Bytes { outputs: &got.outputs, states: &got.states };
        let tolerance = same::tolerance(&plan);
        assert!(same::check(&fixture.graph, got, &want, tolerance).is_err(), "{}", fixture.name);
    }
}

#[test]
fn a_node_that_is_computed_twice_is_noticed() {
    for Firing { rule, fixture, .. } in misses::all() {
        let mut plan = fixture.plan(&[devices::reference()], &Options::default()).unwrap();
        let twice = plan.dispatches.iter().position(|d| d.rule == rule.name).expect("the rule fires");
        let node = plan.dispatches[twice].nodes[0];
        let other = plan.dispatches.iter().position(|d| d.rule != rule.name);
        let Some(other) = other else { continue };
        plan.dispatches[other].nodes.push(node);
        assert!(covered(&plan).is_err(), "{}", fixture.name);
    }
}
