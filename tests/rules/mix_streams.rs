//! `mix_streams`: residual streams read as one row, each value through a gate.

use crate::expect::{fires, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::{Fixture, small};

const RULE: &str = "mix_streams";

fn fixture() -> Fixture {
    small::mix_streams()
}

#[test]
fn fires_in_either_order() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "gated", Change::Swapped), RULE, 1);
}

#[test]
fn declines_other_functions_and_what_stands_between() {
    let other = near(&fixture(), "gated", Change::Op(Op::Binary { kind: BinaryKind::Add }));
    refuses(&other, RULE, "sum", |why| *why == Why::Attr { what: "kind" });
    let silu = near(&fixture(), "opened", Change::Op(Op::Unary { kind: UnaryKind::Silu }));
    refuses(&silu, RULE, "sum", |why| *why == Why::Attr { what: "kind" });
    let scaled = near(&fixture(), "sum", Change::Via(0, Between::Scale));
    refuses(&scaled, RULE, "sum", |why| *why == Why::Op { want: OpKind::Binary, got: OpKind::Scale });
}

#[test]
fn declines_gates_that_others_want() {
    for label in ["opened", "gated"] {
        let read = near(&fixture(), label, Change::Reader);
        refuses(&read, RULE, "sum", |why| matches!(why, Why::Escapes { .. }));
        let shown = near(&fixture(), label, Change::Output);
        refuses(&shown, RULE, "sum", |why| matches!(why, Why::IsOutput { .. }));
    }
}
