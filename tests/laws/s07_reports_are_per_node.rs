//! S7: for a node that nothing takes, or that is not fused, the report lists who was offered it, as what root, and each
//! verdict; refusals of other roots stay out of sight.

use weft_core::contract::{Contract, Port, Stride};
use weft_core::driver::{Options, Why};
use weft_core::plan::PlanError;
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::delta::{TRUE_SIZE, whole_pool};
use weft_tests::graphs::{Fixture, delta::Layer, masks};

/// The graph of the failure: attention with a selection mask, then the layer at its true size.
fn failing_graph() -> Fixture {
    let layer = Layer { states: whole_pool(1), ..TRUE_SIZE };
    masks::true_size(2560).then(layer, "the graph of the failure")
}

/// A fused kernel that asks for rows at a multiple of 1,024 bytes times three: the true stride is no such multiple.
fn narrowed(contract: &Contract) -> Option<Contract> {
    (contract.kernel == "gdn_core").then(|| {
        let narrow = |port: &Port| match port.name {
            "q" => port.strides([Stride::Packed, Stride::Any, Stride::MultipleOf(3072), Stride::Any]),
            _ => *port,
        };
        let ports: Vec<Port> = contract.ports.iter().map(narrow).collect();
        Contract { ports: ports.leak(), ..*contract }
    })
}

#[test]
fn a_norm_that_nothing_takes_has_a_report_of_ten_lines_with_the_true_reason() {
    let fixture = failing_graph();
    let device = Faulty::around(devices::cpu(&Default::default()))
        .without(|offer| offer.contract.kernel == "l2_norm")
        .contracts(narrowed)
        .shared();
    let Err(error @ PlanError::Uncovered(_)) = fixture.plan(&[device], &Options::default()) else {
        panic!("nothing can take the norms");
    };
    let PlanError::Uncovered(lost) = &error else { unreachable!() };
    assert_eq!(lost.len(), 2, "both norms, and nothing else");
    for uncovered in lost {
        let report = uncovered.to_string();
        assert!(report.lines().count() <= 10, "{report}");
        assert!(report.starts_with("no kernel takes l2_norm#"), "{report}");
        let reason = "q: wanted stride multiple of 3072 bytes in dimension 2, found 40960 bytes";
        assert!(report.contains(reason), "{report}");
        for other in ["rms_norm_weight", "swiglu", "norm_rope", "add_rms_norm"] {
            assert!(!report.contains(other), "{report}");
        }
    }
}

#[test]
fn a_norm_that_is_not_fused_has_a_story_of_ten_lines_with_the_true_reason() {
    let fixture = failing_graph();
    let device = Faulty::around(devices::cpu(&Default::default())).contracts(narrowed).shared();
    let plan = fixture.plan(&[device], &Options::default()).unwrap();
    for label in ["q_norm", "k_norm"] {
        let node = fixture.node(label);
        let story = plan.explain(node);
        assert!(story.lines().count() <= 10, "{story}");
        assert!(story.contains("strides [4, 512, 40960, 20971520] bytes"), "{story}");
        assert!(story.contains("gdn_core at node") && story.contains("matched, not claimed"), "{story}");
        let found = "q: wanted stride multiple of 3072 bytes in dimension 2, found 40960 bytes";
        assert!(story.contains(found), "{story}");
        let bound = "(q is F32 [128, 16, 512, 1] strides [4, 512, 40960, 20971520] bytes ([1, 128, 10240, 5242880] elements)";
        assert!(story.contains(bound), "{story}");
        let offered: Vec<&str> = plan.attempts(node).map(|a| a.rule).collect();
        assert_eq!(offered, ["gdn_core_in_place", "gdn_core", "single"]);
        for attempt in plan.attempts(node).filter(|a| a.rule != "single") {
            assert_eq!(attempt.root, fixture.node("net"), "as part of which root");
        }
    }
}

#[test]
fn a_rule_that_is_off_is_named_in_the_story_of_its_nodes() {
    let fixture = failing_graph();
    let off = weft_tests::graphs::without(&["gdn_core_in_place", "gdn_core"]);
    let plan = fixture.plan(&[devices::reference()], &off).unwrap();
    let node = fixture.node("q_norm");
    let verdicts: Vec<_> =
        plan.attempts(node).map(|a| (a.rule, a.declines.first().map(|d| &d.why))).collect();
    let disabled = Some(&Why::Disabled);
    assert_eq!(verdicts, [("gdn_core_in_place", disabled), ("gdn_core", disabled), ("single", None)]);
}

#[test]
fn refusals_at_other_roots_are_in_the_trail_and_not_in_the_report() {
    let fixture = failing_graph();
    let plan = fixture.plan(&[devices::reference()], &Options::default()).unwrap();
    assert!(plan.trail.iter().any(|a| a.rule == "swiglu" && !a.declines.is_empty()));
    let node = fixture.node("q_norm");
    assert!(plan.attempts(node).all(|a| a.rule.starts_with("gdn") || a.rule == "single"));
    assert!(plan.attempts(node).count() < plan.trail.len() / 4);
}
