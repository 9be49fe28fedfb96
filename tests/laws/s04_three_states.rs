//! S4: matched, claimed and executable are three states; the plan keeps and shows each.

use weft_core::driver::{Options, State};
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::misses::{self, Firing};
use weft_tests::graphs::without;

#[test]
fn a_plan_that_was_not_built_says_claimed_and_one_that_was_says_built() {
    for Firing { rule, fixture, root } in misses::all() {
        let device = [devices::reference()];
        let plan = fixture.plan(&device, &Options::default()).unwrap();
        let state = |plan: &weft_core::plan::Plan| {
            plan.trail.iter().find(|a| a.rule == rule.name && a.root == root).unwrap().state.clone()
        };
        let State::Claimed { dispatch } = state(&plan) else { panic!("{:?}", state(&plan)) };
        assert_eq!(plan.dispatches[dispatch].rule, rule.name);
        let line = format!("{} at node {}: claimed by dispatch {dispatch}", rule.name, root.0);
        assert!(plan.explain(root).contains(&line), "{}", plan.explain(root));

        let run = fixture.run(&device, &Options::default()).unwrap();
        assert_eq!(state(&run.plan), State::Executable { dispatch });
        let line = format!("{} at node {}: claimed and built as dispatch {dispatch}", rule.name, root.0);
        assert!(run.plan.explain(root).contains(&line), "{}", run.plan.explain(root));
        let open = run.plan.trail.iter().filter(|a| matches!(a.state, State::Claimed { .. })).count();
        assert_eq!(open, 0, "nothing stays claimed once everything is built");
    }
}

#[test]
fn a_claim_that_failed_to_build_says_so_with_the_reason() {
    for Firing { rule, fixture, root } in misses::all() {
        let device = Faulty::around(devices::reference())
            .failing(|d| (d.rule == rule.name).then(|| "the compiler gave up".to_owned()));
        let run = fixture.run(&[device.shared()], &Options::default()).unwrap();
        let line = format!("{} at node {}: claimed, then revoked: the compiler gave up", rule.name, root.0);
        assert!(run.plan.explain(root).contains(&line), "{}", run.plan.explain(root));
    }
}

#[test]
fn a_match_that_nobody_admits_says_matched() {
    for Firing { rule, fixture, root } in misses::all() {
        let device = Faulty::around(devices::reference()).contracts(|contract| {
            let narrow: Vec<_> = contract.ports.iter().map(|port| port.aligned(1 << 20)).collect();
            let whole = contract.kernel == rule.kernel && rule.kernel != "rms_norm";
            whole.then(|| weft_core::contract::Contract { ports: narrow.leak(), ..*contract })
        });
        let options = if rule.kernel == "rms_norm" { without(&[rule.name]) } else { Options::default() };
        let plan = fixture.plan(&[device.shared()], &options).unwrap();
        let attempt = plan.trail.iter().find(|a| a.rule == rule.name && a.root == root).unwrap();
        assert_eq!(attempt.state, State::Matched);
        assert!(!attempt.covered.is_empty(), "a match knows its nodes");
        let line = format!("{} at node {}: matched, not claimed; ", rule.name, root.0);
        assert!(plan.explain(root).contains(&line), "{}", plan.explain(root));
    }
}

#[test]
fn a_rule_that_declined_says_declined() {
    let firing = misses::all().into_iter().find(|f| f.rule.name == "gdn_core").unwrap();
    let plan = firing.fixture.plan(&[devices::reference()], &Options::default()).unwrap();
    let attempt = plan.trail.iter().find(|a| a.rule == "gdn_layer").unwrap();
    assert_eq!(attempt.state, State::Offered);
    assert!(attempt.covered.is_empty());
    let line = format!("gdn_layer at node {}: declined; node {} step 0: ", firing.root.0, firing.root.0);
    assert!(plan.explain(firing.root).contains(&line), "{}", plan.explain(firing.root));
}
