//! `swiglu`: the function of a gate times a value.

use crate::expect::{fires, near, refuses, right};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, odd, sharing, small};
use weft_tests::run::Data;

const RULE: &str = "swiglu";

fn fixture() -> Fixture {
    small::swiglu()
}

#[test]
fn fires_with_either_gate_function_and_either_order() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "act", Change::Op(Op::Unary { kind: UnaryKind::Sigmoid })), RULE, 1);
    fires(&near(&fixture(), "product", Change::Swapped), RULE, 1);
}

#[test]
fn fires_on_gates_that_are_slices() {
    let (width, heads, tokens) = (16, 3, 4);
    let mut g = Import::default();
    let both = g.input("both", DType::F32, &[2 * width * heads, tokens]);
    let up = g.input("up", DType::F32, &[width, heads, tokens]);
    let row = 2 * width * heads * 4;
    let gate = g.view(both, [width, heads, tokens, 1], [4, 2 * width * 4, row, row * tokens], width * 4);
    let opened = g.unary(UnaryKind::Sigmoid, gate);
    let out = g.mul(up, opened);
    g.output("out", out);
    fires(&Fixture::new("the output gate of attention", g, Data::new()), RULE, 1);
}

#[test]
fn declines_other_functions() {
    for kind in [UnaryKind::Softplus, UnaryKind::Neg] {
        let other = near(&fixture(), "act", Change::Op(Op::Unary { kind }));
        refuses(&other, RULE, "act", |why| *why == Why::Attr { what: "kind" });
    }
    for kind in [BinaryKind::Add, BinaryKind::Sub, BinaryKind::Div] {
        let other = near(&fixture(), "product", Change::Op(Op::Binary { kind }));
        refuses(&other, RULE, "act", |why| *why == Why::Attr { what: "kind" });
    }
    let other = near(&fixture(), "product", Change::Op(Op::Swiglu));
    refuses(
        &other,
        RULE,
        "act",
        |why| matches!(why, Why::NoOperand { want: OpKind::Binary, found } if found == &[OpKind::Swiglu]),
    );
}

#[test]
fn declines_a_gate_that_others_want() {
    refuses(&near(&fixture(), "act", Change::Reader), RULE, "act", |why| matches!(why, Why::Escapes { .. }));
    refuses(&near(&fixture(), "act", Change::Output), RULE, "act", |why| matches!(why, Why::IsOutput { .. }));
}

#[test]
fn declines_a_gate_seen_in_another_order() {
    let turned = near(&fixture(), "product", Change::Via(0, Between::Turned));
    refuses(&turned, RULE, "act", |why| *why == Why::Rearranged { source: 0 });
}

#[test]
fn declines_a_gate_times_itself() {
    refuses(&odd::square_of_a_gate(), RULE, "act", |why| *why == Why::OwnResult { port: "up" });
}

#[test]
fn declines_a_product_that_lands_on_part_of_its_gate() {
    refuses(&odd::product_over_its_gate(), RULE, "act", |why| *why == Why::Overlap { a: "out", b: "gate" });
}

#[test]
fn declines_a_gate_in_place_that_a_scatter_partly_shows() {
    let fixture = sharing::partial_writes();
    refuses(&fixture, RULE, "opened", |why| matches!(why, Why::Escapes { .. }));
}

#[test]
fn declines_a_value_that_is_repeated() {
    let mut g = Import::default();
    let (gate, up) = (g.input("gate", DType::F32, &[16, 4]), g.input("up", DType::F32, &[16]));
    let act = g.unary(UnaryKind::Silu, gate);
    g.label("act");
    let out = g.mul(act, up);
    g.output("out", out);
    let fixture = Fixture::new("one value for all rows", g, Data::new());
    refuses(&fixture, RULE, "act", |why| matches!(why, Why::Extent { port: "up", dim: 1, .. }));
}

#[test]
fn takes_half_precision_on_the_reference_only() {
    let half = near(&fixture(), "product", Change::Via(1, Between::Half));
    right(&half);
    right(&odd::misaligned_gate());
}
