//! `expert_sum`: what experts give, weighted and summed.

use crate::expect::{fires, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, small};
use weft_tests::run::Data;

const RULE: &str = "expert_sum";

fn fixture() -> Fixture {
    small::expert_sum()
}

/// A sum over a dimension of a weighted tensor, brought to the front by this order.
fn summed(weights: &[u64], order: [usize; 4]) -> Fixture {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[4, 4, 4]);
    let weights = g.input("weights", DType::F32, weights);
    let weighted = g.mul(x, weights);
    let turned = g.permute(weighted, order);
    let out = g.op(Op::SumRows, &[turned]);
    g.label("sum");
    g.output("out", out);
    Fixture::new("a weighted sum", g, Data::new())
}

#[test]
fn fires_on_a_sum_over_experts() {
    fires(&fixture(), RULE, 1);
    fires(&summed(&[1, 4, 4], [1, 0, 2, 3]), RULE, 1);
}

#[test]
fn declines_a_sum_over_anything_else() {
    for order in [[0, 1, 2, 3], [2, 1, 0, 3]] {
        let other = summed(&[1, 4, 4], order);
        refuses(&other, RULE, "sum", |why| *why == Why::Rearranged { source: 0 });
    }
}

#[test]
fn declines_weights_of_another_shape() {
    for weights in [&[4, 4, 4][..], &[1, 1, 4], &[1, 4], &[4]] {
        let other = summed(weights, [1, 0, 2, 3]);
        refuses(&other, RULE, "sum", |why| matches!(why, Why::Extent { port: "weights", .. }));
    }
}

#[test]
fn declines_other_functions_and_what_stands_between() {
    for kind in [BinaryKind::Add, BinaryKind::Div] {
        let other = near(&fixture(), "weighted", Change::Op(Op::Binary { kind }));
        refuses(&other, RULE, "sum", |why| *why == Why::Attr { what: "kind" });
    }
    let scaled = near(&fixture(), "sum", Change::Via(0, Between::Scale));
    refuses(&scaled, RULE, "sum", |why| *why == Why::Op { want: OpKind::Binary, got: OpKind::Scale });
}

#[test]
fn declines_products_that_others_want() {
    let read = near(&fixture(), "weighted", Change::Reader);
    refuses(&read, RULE, "sum", |why| matches!(why, Why::Escapes { .. }));
    let shown = near(&fixture(), "weighted", Change::Output);
    refuses(&shown, RULE, "sum", |why| matches!(why, Why::IsOutput { .. }));
}
