//! `mul_mat_gated`: as `mul_mat_swiglu`, out of plain operations.

use crate::expect::{fires, near, planned, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::{Fixture, claims, small};

const RULE: &str = "mul_mat_gated";

fn fixture() -> Fixture {
    small::mul_mat_gated()
}

#[test]
fn fires_with_either_gate_function_and_either_order() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "act", Change::Op(Op::Unary { kind: UnaryKind::Sigmoid })), RULE, 1);
    fires(&near(&fixture(), "product", Change::Swapped), RULE, 1);
}

#[test]
fn declines_other_functions() {
    let soft = near(&fixture(), "act", Change::Op(Op::Unary { kind: UnaryKind::Softplus }));
    refuses(&soft, RULE, "act", |why| *why == Why::Attr { what: "kind" });
    let sum = near(&fixture(), "product", Change::Op(Op::Binary { kind: BinaryKind::Add }));
    refuses(&sum, RULE, "act", |why| *why == Why::Attr { what: "kind" });
}

#[test]
fn declines_values_that_are_no_products() {
    refuses(&small::swiglu(), RULE, "act", |why| *why == Why::Missing { source: 0 });
    let up = near(&fixture(), "product", Change::Via(1, Between::Scale));
    refuses(&up, RULE, "act", |why| *why == Why::Op { want: OpKind::MulMat, got: OpKind::Scale });
    let turned = near(&fixture(), "product", Change::Via(1, Between::Turned));
    refuses(&turned, RULE, "act", |why| *why == Why::Rearranged { source: 1 });
    let twice = near(&fixture(), "product", Change::Twice);
    refuses(&twice, RULE, "act", |why| *why == Why::Op { want: OpKind::MulMat, got: OpKind::Unary });
}

#[test]
fn declines_products_of_other_columns_and_leaves_the_gate_to_a_smaller_rule() {
    let other = near(&fixture(), "up", Change::Via(1, Between::Copy));
    refuses(&other, RULE, "act", |why| *why == Why::NotSame { what: "x" });
    assert_eq!(claims(&planned(&other.graph), "swiglu"), 1);
}

#[test]
fn declines_inner_values_that_others_want() {
    for label in ["gate", "up", "act"] {
        refuses(&near(&fixture(), label, Change::Reader), RULE, "act", |why| {
            matches!(why, Why::Escapes { .. })
        });
        refuses(&near(&fixture(), label, Change::Output), RULE, "act", |why| {
            matches!(why, Why::IsOutput { .. })
        });
    }
}
