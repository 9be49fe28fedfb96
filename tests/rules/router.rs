//! `router`: softmax, the k largest, and their shares made to sum to one.

use crate::expect::{fires, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, small};
use weft_tests::run::Data;

const RULE: &str = "router";

fn fixture() -> Fixture {
    small::router()
}

fn is_other_choice(why: &Why) -> bool {
    *why == Why::NotSame { what: "the shares are not those of the choice" }
}

#[test]
fn fires_with_any_factor_and_any_number_of_experts() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "softmax", Change::Op(Op::Softmax { scale: 0.5 })), RULE, 1);
    fires(&near(&fixture(), "least", Change::Op(Op::Clamp { min: 0.9, max: f32::INFINITY })), RULE, 1);
}

#[test]
fn leaves_the_choice_to_those_who_want_it() {
    fires(&near(&fixture(), "top", Change::Output), RULE, 1);
    refuses(&near(&fixture(), "softmax", Change::Output), RULE, "top", |why| {
        matches!(why, Why::IsOutput { .. })
    });
    for label in ["softmax", "gather", "sum", "least"] {
        let read = near(&fixture(), label, Change::Reader);
        refuses(&read, RULE, "top", |why| matches!(why, Why::Escapes { .. }));
    }
}

#[test]
fn declines_other_sums() {
    let bounded = near(&fixture(), "least", Change::Op(Op::Clamp { min: 0.0, max: 0.5 }));
    refuses(&bounded, RULE, "top", |why| *why == Why::Attr { what: "max" });
    let product = near(&fixture(), "quotient", Change::Op(Op::Binary { kind: BinaryKind::Mul }));
    refuses(&product, RULE, "top", |why| *why == Why::Attr { what: "kind" });
    let turned = near(&fixture(), "sum", Change::Via(0, Between::Turned));
    refuses(&turned, RULE, "top", |why| matches!(why, Why::Rearranged { .. }));
}

#[test]
fn declines_what_stands_between() {
    let scaled = near(&fixture(), "top", Change::Via(0, Between::Scale));
    refuses(&scaled, RULE, "top", |why| *why == Why::Op { want: OpKind::Softmax, got: OpKind::Scale });
    let copied = near(&fixture(), "quotient", Change::Via(0, Between::Copy));
    refuses(&copied, RULE, "top", |why| matches!(why, Why::NoOperand { want: OpKind::Binary, .. }));
}

/// A choice over `experts`, whose shares are looked up in a softmax of these logits.
fn choice(own: bool, table: &[u64], sum: &[u64]) -> Fixture {
    let mut g = Import::default();
    let [one, other] = ["one", "other"].map(|name| g.input(name, DType::F32, &[4, 4]));
    let [one, other] = [one, other].map(|logits| g.op(Op::Softmax { scale: 1.0 }, &[logits]));
    g.output("shares", other);
    let ids = g.op(Op::TopK { k: 4 }, &[one]);
    g.label("top");
    let looked = g.reshape(if own { one } else { other }, table);
    let shares = g.op(Op::GetRows, &[looked, ids]);
    let shares = g.reshape(shares, sum);
    let all = g.op(Op::SumRows, &[shares]);
    let least = g.op(Op::Clamp { min: 1e-4, max: f32::INFINITY }, &[all]);
    let out = g.binary(BinaryKind::Div, shares, least);
    g.output("out", out);
    Fixture::new("a choice", g, Data::new())
}

#[test]
fn declines_shares_of_another_row_or_another_softmax() {
    fires(&choice(true, &[1, 4, 4], &[4, 4]), RULE, 1);
    refuses(&choice(false, &[1, 4, 4], &[4, 4]), RULE, "top", |why| {
        matches!(why, Why::NoOperand { want: OpKind::GetRows, .. })
    });
    refuses(&choice(true, &[1, 4, 4], &[1, 4, 4]), RULE, "top", is_other_choice);
    refuses(&choice(true, &[1, 4, 4], &[2, 8]), RULE, "top", is_other_choice);
}
