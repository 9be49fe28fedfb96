//! `expert_sum_shared`: the weighted sum of experts, and one that all tokens use behind its gate.

use crate::expect::{fires, leaves, near};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::{Fixture, small};

const RULE: &str = "expert_sum_shared";

fn fixture() -> Fixture {
    small::expert_sum_shared()
}

/// Refused, and the sum of the experts alone is still one dispatch.
fn leaves_the_sum(fixture: &Fixture, fits: impl Fn(&Why) -> bool) {
    leaves(fixture, RULE, "sum", "expert_sum", fits);
}

#[test]
fn fires_in_either_order() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "total", Change::Swapped), RULE, 1);
}

#[test]
fn declines_other_functions() {
    let silu = near(&fixture(), "opened", Change::Op(Op::Unary { kind: UnaryKind::Silu }));
    leaves_the_sum(&silu, |why| *why == Why::Attr { what: "kind" });
    for (label, kind) in [("gated", BinaryKind::Add), ("total", BinaryKind::Mul)] {
        let other = near(&fixture(), label, Change::Op(Op::Binary { kind }));
        leaves_the_sum(&other, |why| *why == Why::Attr { what: "kind" });
    }
}

#[test]
fn declines_what_stands_between() {
    let scaled = near(&fixture(), "gated", Change::Via(1, Between::Scale));
    leaves_the_sum(&scaled, |why| *why == Why::Op { want: OpKind::Unary, got: OpKind::Scale });
    let scaled = near(&fixture(), "total", Change::Via(1, Between::Scale));
    leaves_the_sum(&scaled, |why| *why == Why::Op { want: OpKind::Binary, got: OpKind::Scale });
    let turned = near(&fixture(), "weighted", Change::Via(0, Between::Turned));
    fires(&turned, RULE, 1);
}

#[test]
fn leaves_values_that_others_want_to_the_smaller_rule() {
    for label in ["opened", "gated"] {
        let read = near(&fixture(), label, Change::Reader);
        leaves_the_sum(&read, |why| matches!(why, Why::Escapes { .. }));
    }
    let sum = near(&fixture(), "sum", Change::Output);
    leaves_the_sum(&sum, |why| matches!(why, Why::IsOutput { .. }));
}
