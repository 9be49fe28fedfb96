//! `mul_mat_swiglu`: two projections of the same columns, the one gated by the other.

use crate::expect::{fires, near, planned, refuses};
use weft_core::driver::Why;
use weft_core::graph::{DType, Op, OpKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, claims, small};
use weft_tests::run::Data;

const RULE: &str = "mul_mat_swiglu";

fn fixture() -> Fixture {
    small::mul_mat_swiglu()
}

/// A feed-forward network's first half over weights of these types.
fn network(gate: DType, up: DType, shape: &[u64]) -> Fixture {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, shape);
    let products = [("gate", gate), ("up", up)].map(|(name, dtype)| {
        let weight = g.weight(&format!("{name}.weight"), dtype, &[shape[0], 24]);
        g.op(Op::MulMat, &[weight, x])
    });
    let out = g.op(Op::Swiglu, &products);
    g.label("product");
    g.output("out", out);
    Fixture::new(format!("a network of {gate} and {up}"), g, Data::new())
}

#[test]
fn fires_on_weights_of_any_types() {
    fires(&fixture(), RULE, 1);
    for (gate, up, tokens) in [(DType::Q8_0, DType::Q8_0, 1), (DType::Q4_0, DType::F16, 3)] {
        fires(&network(gate, up, &[32, tokens]), RULE, 1);
    }
}

#[test]
fn fires_in_either_order_and_on_one_product_twice() {
    fires(&near(&fixture(), "product", Change::Swapped), RULE, 1);
    fires(&near(&fixture(), "product", Change::Twice), RULE, 1);
}

#[test]
fn declines_products_of_other_columns() {
    for change in [Between::Copy, Between::Turned, Between::Scale] {
        let other = near(&fixture(), "up", Change::Via(1, change));
        refuses(&other, RULE, "product", |why| *why == Why::NotSame { what: "x" });
    }
}

#[test]
fn declines_what_stands_between() {
    for index in [0, 1] {
        let scaled = near(&fixture(), "product", Change::Via(index, Between::Scale));
        refuses(&scaled, RULE, "product", |why| *why == Why::Op { want: OpKind::MulMat, got: OpKind::Scale });
        let turned = near(&fixture(), "product", Change::Via(index, Between::Turned));
        refuses(&turned, RULE, "product", |why| *why == Why::Rearranged { source: index });
    }
}

#[test]
fn declines_products_that_others_want_and_leaves_them_to_smaller_rules() {
    for label in ["gate", "up"] {
        let read = near(&fixture(), label, Change::Reader);
        refuses(&read, RULE, "product", |why| matches!(why, Why::Escapes { .. }));
        assert_eq!(claims(&planned(&read.graph), "mul_mats"), 1);
        refuses(&near(&fixture(), label, Change::Output), RULE, "product", |why| {
            matches!(why, Why::IsOutput { .. })
        });
    }
}

#[test]
fn declines_batches_and_plain_values() {
    let batched = network(DType::F32, DType::F32, &[32, 3, 2]);
    refuses(&batched, RULE, "product", |why| matches!(why, Why::Extent { port: "x", dim: 2, .. }));
    let mut g = Import::default();
    let (gate, up) = (g.input("gate", DType::F32, &[16, 4]), g.input("up", DType::F32, &[16, 4]));
    let out = g.op(Op::Swiglu, &[gate, up]);
    g.label("product");
    g.output("out", out);
    let plain = Fixture::new("without products", g, Data::new());
    refuses(&plain, RULE, "product", |why| *why == Why::Missing { source: 0 });
}

#[test]
fn declines_a_weight_made_from_the_other_product() {
    let mut g = Import::default();
    let (x, weight) = (g.input("x", DType::F32, &[8, 8]), g.weight("weight", DType::F32, &[8, 8]));
    let gate = g.op(Op::MulMat, &[weight, x]);
    let up = g.op(Op::MulMat, &[gate, x]);
    let out = g.op(Op::Swiglu, &[gate, up]);
    g.label("product");
    g.output("out", out);
    let own = Fixture::new("a weight made from the gate", g, Data::new());
    refuses(&own, RULE, "product", |why| *why == Why::OwnResult { port: "up" });
}
