//! `expert_sum_shared_norm`: what experts and one that all tokens use give, added to the residual, and the norm of that.

use crate::expect::{fires, leaves, near};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::{Fixture, small};

const RULE: &str = "expert_sum_shared_norm";

fn fixture() -> Fixture {
    small::expert_sum_shared_norm()
}

/// Refused, and another rule takes the sum of the experts.
fn leaves_the_sum(fixture: &Fixture, to: &str, fits: impl Fn(&Why) -> bool) {
    leaves(fixture, RULE, "sum", to, fits);
}

#[test]
fn fires_in_either_order() {
    fires(&fixture(), RULE, 1);
    for label in ["total", "added"] {
        fires(&near(&fixture(), label, Change::Swapped), RULE, 1);
    }
}

#[test]
fn declines_another_gate() {
    let silu = near(&fixture(), "opened", Change::Op(Op::Unary { kind: UnaryKind::Silu }));
    leaves_the_sum(&silu, "expert_sum", |why| *why == Why::Attr { what: "kind" });
}

#[test]
fn declines_a_norm_of_something_else_and_leaves_the_sum_to_the_smaller_rule() {
    let product = near(&fixture(), "added", Change::Op(Op::Binary { kind: BinaryKind::Mul }));
    leaves_the_sum(&product, "expert_sum_shared", |why| *why == Why::Attr { what: "kind" });
    let scaled = near(&fixture(), "norm", Change::Via(0, Between::Scale));
    leaves_the_sum(&scaled, "expert_sum_shared", |why| {
        matches!(why, Why::NoOperand { want: OpKind::RmsNorm, .. })
    });
}

#[test]
fn leaves_values_that_others_want_to_smaller_rules() {
    for label in ["total", "norm"] {
        let read = near(&fixture(), label, Change::Reader);
        leaves_the_sum(&read, "expert_sum_shared", |why| matches!(why, Why::Escapes { .. }));
    }
    let shown = near(&fixture(), "gated", Change::Output);
    leaves_the_sum(&shown, "expert_sum", |why| matches!(why, Why::IsOutput { .. }));
}
