//! S3: a claim whose dispatch cannot be made gives its nodes back, and planning goes on without it.

use std::sync::Arc;
use weft_core::backend::{Backend, DeviceError};
use weft_core::driver::{Options, State, Why};
use weft_core::plan::{Dispatch, Plan, PlanError};
use weft_core::run::RunError;
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::misses::{self, Firing};
use weft_tests::graphs::models::tiny;
use weft_tests::graphs::{Fixture, claims, odd, same, small, without};

fn exact() -> Options {
    Options { exact: true, ..Options::default() }
}

fn failing(when: impl Fn(&Dispatch) -> bool + Send + Sync + 'static) -> Arc<dyn Backend> {
    let reason = |d: &Dispatch| format!("no pipeline for {}/{}", d.kernel, d.variant);
    let inner = devices::complete();
    Faulty::around(inner).failing(move |d| when(d).then(|| reason(d))).shared()
}

/// Runs on a device that fails, and compares with the unfused run on a sound one.
fn same_as_unfused(fixture: &Fixture, device: Arc<dyn Backend>) -> Arc<Plan> {
    let sound = [devices::complete()];
    let want = fixture.run(&sound, &Options { exact: true, ..without(&["*"]) }).unwrap();
    let got = fixture.run(&[device], &exact()).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
    let tolerance = same::tolerance(&want.plan);
    same::check(&fixture.graph, &got, &want, tolerance).unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
    got.plan
}

#[test]
fn a_rule_whose_dispatch_never_builds_is_given_back_and_the_reason_kept() {
    for Firing { rule, fixture, root } in misses::all() {
        let plan = same_as_unfused(&fixture, failing(|d| d.rule == rule.name));
        assert_eq!(claims(&plan, rule.name), 0, "{}", rule.name);
        let attempt = plan.trail.iter().find(|a| a.rule == rule.name && a.root == root).unwrap();
        let State::Revoked { reason } = &attempt.state else { panic!("{}: {:?}", rule.name, attempt.state) };
        assert!(reason.starts_with(&format!("no pipeline for {}/", rule.kernel)), "{reason}");
        let revoked = attempt.declines.iter().filter(|d| matches!(d.why, Why::Revoked { .. })).count();
        assert_eq!(revoked, plan.revoked.len(), "each variant that failed is in the trail");
    }
}

#[test]
fn a_variant_that_never_builds_leaves_the_claim_to_the_next_one() {
    for Firing { rule, fixture, root } in misses::all() {
        let plan = same_as_unfused(&fixture, failing(|d| d.rule == rule.name && d.variant != "reference"));
        let dispatch = plan.dispatches.iter().find(|d| d.rule == rule.name).unwrap();
        assert_eq!(dispatch.variant, "reference");
        let attempt = plan.trail.iter().find(|a| a.rule == rule.name && a.root == root).unwrap();
        assert!(matches!(attempt.state, State::Executable { .. }), "{:?}", attempt.state);
        let revoked = attempt.declines.iter().filter(|d| matches!(d.why, Why::Revoked { .. })).count();
        assert_eq!(revoked, plan.revoked.len(), "{}: the first variant's failure is in the trail", rule.name);
    }
}

#[test]
fn all_rules_may_fail_at_once() {
    for fixture in ["qwen35", "qwen35moe", "qwen3", "llama"].map(tiny) {
        let plan = same_as_unfused(&fixture, failing(|d| d.rule != "single"));
        assert!(plan.dispatches.iter().all(|d| d.rule == "single"), "{}", fixture.name);
        assert!(!plan.revoked.is_empty());
    }
}

#[test]
fn the_nodes_of_a_revoked_claim_go_to_smaller_rules() {
    let layer = weft_tests::graphs::segmented::one(5).fixture("a layer");
    let plan = same_as_unfused(&layer, failing(|d| d.rule == "gdn_layer"));
    assert_eq!((claims(&plan, "gdn_core"), claims(&plan, "gated_norm")), (1, 1));
    let plan = same_as_unfused(&layer, failing(|d| d.rule.starts_with("gdn")));
    assert_eq!((claims(&plan, "gdn_core"), claims(&plan, "gated_norm")), (0, 1));
}

#[test]
fn a_failure_while_constants_are_derived_refuses_before_anything_is_claimed() {
    let fixture = odd::slanted_projection();
    let plan = fixture.plan(&[devices::reference()], &exact()).unwrap();
    let attempt = plan.trail.iter().find(|a| a.rule == "gdn_layer").unwrap();
    assert_eq!(attempt.state, State::Matched);
    let why = &attempt.declines.last().unwrap().why;
    assert!(matches!(why, Why::Derived { name: "row_stride", port: "x", .. }), "{why:?}");
    assert_eq!(claims(&plan, "gdn_core"), 1, "the nodes go to the next rule");
}

#[test]
fn a_failure_over_aliases_refuses_before_anything_is_claimed() {
    let fixture = odd::product_over_its_gate();
    let plan = same_as_unfused(&fixture, devices::reference());
    let attempt = plan.trail.iter().find(|a| a.rule == "swiglu").unwrap();
    assert_eq!(attempt.state, State::Matched);
    let why = &attempt.declines.last().unwrap().why;
    assert_eq!(*why, Why::Overlap { a: "out", b: "gate" });
}

#[test]
fn a_plain_kernel_that_fails_goes_to_the_next_device() {
    let fixture = small::swiglu();
    let first = failing(|d| d.kernel == "binary");
    let second = Faulty::around(devices::reference()).named("second").shared();
    let got = fixture.run(&[first, second], &Options { exact: true, ..without(&["*"]) }).unwrap();
    let product = got.plan.dispatches.iter().find(|d| d.kernel == "binary").unwrap();
    assert_eq!(product.device, 1);
    let want = fixture.run(&[devices::reference()], &without(&["*"])).unwrap();
    same::check(&fixture.graph, &got, &want, same::tolerance(&want.plan)).unwrap();
}

#[test]
fn a_node_that_no_device_can_build_ends_in_a_typed_error_with_the_reason() {
    let fixture = small::swiglu();
    let error = fixture.run(&[failing(|d| d.kernel == "binary")], &without(&["*"])).unwrap_err();
    let RunError::Plan(PlanError::Uncovered(lost)) = &error else { panic!("{error}") };
    assert_eq!(lost.iter().map(|u| u.node).collect::<Vec<_>>(), [fixture.node("product")]);
    assert!(error.to_string().contains("no pipeline for binary/reference"), "{error}");
}

#[test]
fn another_failure_than_one_dispatch_is_not_retried() {
    let gone = |_: &Dispatch| true;
    let lost = Faulty::around(devices::reference()).losing(gone).shared();
    let error = small::swiglu().run(&[lost], &exact()).unwrap_err();
    assert!(matches!(error, RunError::Device(DeviceError::Lost { .. })), "{error}");
}
