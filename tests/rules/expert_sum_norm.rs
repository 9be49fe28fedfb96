//! `expert_sum_norm`: what experts give, added to the residual, and the norm of that.

use crate::expect::{fires, leaves, near, planned};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, Op, OpKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::{Fixture, claims, small};

const RULE: &str = "expert_sum_norm";

fn fixture() -> Fixture {
    small::expert_sum_norm()
}

/// Refused, and the sum of the experts alone is still one dispatch.
fn leaves_the_sum(fixture: &Fixture, fits: impl Fn(&Why) -> bool) {
    leaves(fixture, RULE, "sum", "expert_sum", fits);
}

#[test]
fn fires_in_either_order() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "added", Change::Swapped), RULE, 1);
}

#[test]
fn declines_other_functions() {
    for (label, kind) in [("added", BinaryKind::Mul), ("normed", BinaryKind::Add)] {
        let other = near(&fixture(), label, Change::Op(Op::Binary { kind }));
        leaves_the_sum(&other, |why| *why == Why::Attr { what: "kind" });
    }
}

#[test]
fn declines_what_stands_between_and_leaves_sum_and_norm_to_their_own_rule() {
    let scaled = near(&fixture(), "added", Change::Via(0, Between::Scale));
    leaves_the_sum(&scaled, |why| {
        *why == Why::NoOperand { want: OpKind::Binary, found: vec![OpKind::Scale] }
    });
    assert_eq!(claims(&planned(&scaled.graph), "add_rms_norm"), 1);
    let scaled = near(&fixture(), "norm", Change::Via(0, Between::Scale));
    leaves_the_sum(&scaled, |why| matches!(why, Why::NoOperand { want: OpKind::RmsNorm, .. }));
}

#[test]
fn leaves_values_that_others_want_to_smaller_rules() {
    let read = near(&fixture(), "norm", Change::Reader);
    leaves_the_sum(&read, |why| matches!(why, Why::Escapes { .. }));
    let sum = near(&fixture(), "sum", Change::Output);
    leaves_the_sum(&sum, |why| matches!(why, Why::IsOutput { .. }));
}
