//! `mul_mat_id_swiglu`: two projections by chosen matrices, the one gated by the other.

use crate::expect::{fires, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{DType, Op, OpKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, small};
use weft_tests::run::{Data, int_bytes};

const RULE: &str = "mul_mat_id_swiglu";

fn fixture() -> Fixture {
    small::mul_mat_id_swiglu()
}

/// One column a token for all of its experts, over weights of these types.
fn network(gate: DType, up: DType, tokens: u64) -> Fixture {
    let mut g = Import::default();
    let (chosen, experts) = (2, 3);
    let x = g.input("x", DType::F32, &[32, 1, tokens]);
    let ids = g.input("ids", DType::I32, &[chosen, tokens]);
    let products = [("gate", gate), ("up", up)].map(|(name, dtype)| {
        let weight = g.weight(name, dtype, &[32, 24, experts]);
        g.op(Op::MulMatId, &[weight, x, ids])
    });
    let out = g.op(Op::Swiglu, &products);
    g.label("product");
    g.output("out", out);
    let ids: Vec<i32> = (0..chosen * tokens).map(|i| (i % experts) as i32).collect();
    let mut data = Data::new();
    data.insert("ids".to_owned(), int_bytes(&ids));
    Fixture::new(format!("experts of {gate} and {up}"), g, data)
}

#[test]
fn fires_on_weights_of_any_types() {
    fires(&fixture(), RULE, 1);
    for (gate, up, tokens) in [(DType::Q8_0, DType::Q8_0, 1), (DType::Q4_0, DType::F16, 3)] {
        fires(&network(gate, up, tokens), RULE, 1);
    }
}

#[test]
fn fires_in_either_order_and_on_one_product_twice() {
    fires(&near(&fixture(), "product", Change::Swapped), RULE, 1);
    fires(&near(&fixture(), "product", Change::Twice), RULE, 1);
}

#[test]
fn declines_products_of_other_columns_or_by_other_choices() {
    for change in [Between::Copy, Between::Turned] {
        let other = near(&fixture(), "up", Change::Via(1, change));
        refuses(&other, RULE, "product", |why| *why == Why::NotSame { what: "x" });
        let other = near(&fixture(), "up", Change::Via(2, change));
        refuses(&other, RULE, "product", |why| *why == Why::NotSame { what: "ids" });
    }
}

#[test]
fn declines_what_stands_between() {
    for index in [0, 1] {
        let scaled = near(&fixture(), "product", Change::Via(index, Between::Scale));
        let want = Why::Op { want: OpKind::MulMatId, got: OpKind::Scale };
        refuses(&scaled, RULE, "product", |why| *why == want);
        let turned = near(&fixture(), "product", Change::Via(index, Between::Turned));
        refuses(&turned, RULE, "product", |why| *why == Why::Rearranged { source: index });
    }
}

#[test]
fn declines_products_that_others_want() {
    for label in ["gate", "up"] {
        let read = near(&fixture(), label, Change::Reader);
        refuses(&read, RULE, "product", |why| matches!(why, Why::Escapes { .. }));
        let shown = near(&fixture(), label, Change::Output);
        refuses(&shown, RULE, "product", |why| matches!(why, Why::IsOutput { .. }));
    }
}
