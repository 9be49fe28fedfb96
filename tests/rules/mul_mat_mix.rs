//! `mul_mat_mix`: residual streams read as one row, each value through a gate that a product opens.

use crate::expect::{fires, leaves, near};
use weft_core::driver::Why;
use weft_core::graph::{Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::{Fixture, small};

const RULE: &str = "mul_mat_mix";

fn fixture() -> Fixture {
    small::mul_mat_mix()
}

/// Refused, and the mix behind the product is still one dispatch.
fn leaves_the_mix(fixture: &Fixture, fits: impl Fn(&Why) -> bool) {
    leaves(fixture, RULE, "sum", "mix_streams", fits);
}

#[test]
fn fires_in_either_order() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "gated", Change::Swapped), RULE, 1);
}

#[test]
fn declines_other_functions_and_what_stands_between() {
    let tanh = near(&fixture(), "silu", Change::Op(Op::Unary { kind: UnaryKind::Tanh }));
    leaves_the_mix(&tanh, |why| *why == Why::Attr { what: "kind" });
    let scaled = near(&fixture(), "opened", Change::Via(0, Between::Scale));
    leaves_the_mix(&scaled, |why| *why == Why::Op { want: OpKind::MulMat, got: OpKind::Scale });
    let scaled = near(&fixture(), "gate", Change::Via(1, Between::Scale));
    leaves_the_mix(&scaled, |why| *why == Why::Op { want: OpKind::Unary, got: OpKind::Scale });
}

#[test]
fn leaves_values_that_others_want_to_the_smaller_rule() {
    for label in ["silu", "gate"] {
        let read = near(&fixture(), label, Change::Reader);
        leaves_the_mix(&read, |why| matches!(why, Why::Escapes { .. }));
        let shown = near(&fixture(), label, Change::Output);
        leaves_the_mix(&shown, |why| matches!(why, Why::IsOutput { .. }));
    }
}
