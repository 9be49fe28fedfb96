//! `mul_mats`: products of the same columns.

use crate::expect::{fires, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{DType, Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::projections::{Lie, products};
use weft_tests::graphs::{Fixture, projections, small};
use weft_tests::run::Data;

const RULE: &str = "mul_mats";

fn fixture() -> Fixture {
    small::mul_mats()
}

/// Whether no later reader of the columns is a product, but these are there.
fn alone(readers: &'static [OpKind]) -> impl Fn(&Why) -> bool {
    move |why| matches!(why, Why::NoOperand { want: OpKind::MulMat, found } if found == readers)
}

#[test]
fn fires_on_two_to_four_products_in_all_layouts_and_types() {
    fires(&fixture(), RULE, 1);
    for several in projections::all().iter().filter(|f| !f.name.starts_with('6')) {
        fires(several, RULE, 1);
    }
}

#[test]
fn fires_twice_on_six_products() {
    fires(&products(&[DType::F32; 6], 3, Lie::Packed), RULE, 2);
}

#[test]
fn leaves_the_fifth_product_alone() {
    let five = products(&[DType::F32; 5], 3, Lie::Packed);
    fires(&five, RULE, 1);
    refuses(&five, RULE, "product.4", alone(&[]));
}

#[test]
fn fires_through_a_view_that_changes_nothing() {
    fires(&near(&fixture(), "second", Change::Via(1, Between::View)), RULE, 1);
}

#[test]
fn fires_on_one_weight_twice() {
    let mut g = Import::default();
    let (x, weight) = (g.input("x", DType::F32, &[16, 3]), g.weight("weight", DType::F32, &[16, 8]));
    for name in ["a", "b"] {
        let out = g.op(Op::MulMat, &[weight, x]);
        g.output(name, out);
    }
    fires(&Fixture::new("one product twice", g, Data::new()), RULE, 1);
}

#[test]
fn declines_a_product_that_is_alone() {
    refuses(&products(&[DType::F32], 3, Lie::Packed), RULE, "product.0", alone(&[]));
}

#[test]
fn declines_other_columns() {
    let copied = near(&fixture(), "second", Change::Via(1, Between::Copy));
    refuses(&copied, RULE, "first", alone(&[OpKind::Cast]));
    let turned = near(&fixture(), "second", Change::Via(1, Between::Turned));
    refuses(&turned, RULE, "first", alone(&[OpKind::View]));
}

#[test]
fn declines_columns_that_have_changed_in_between() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 16]);
    let x = g.packed_copy(x);
    for name in ["first", "second"] {
        let weight = g.weight(name, DType::F32, &[16, 16]);
        let out = g.op(Op::MulMat, &[weight, x]);
        g.label(name);
        g.output(&format!("out.{name}"), out);
    }
    let whole = Fixture::new("copied columns", g, Data::new());
    fires(&whole, RULE, 1);
    refuses(&near(&whole, "second", Change::Writer(1)), RULE, "first", alone(&[OpKind::Scale]));
    refuses(&near(&whole, "second", Change::Patch(1)), RULE, "first", alone(&[]));
}

#[test]
fn declines_a_weight_that_serves_as_columns_elsewhere() {
    let swapped = near(&fixture(), "second", Change::Swapped);
    refuses(&swapped, RULE, "first", alone(&[OpKind::MulMat]));
}

#[test]
fn declines_a_weight_made_from_an_earlier_product() {
    let made = |through: bool| {
        let mut g = Import::default();
        let (x, weight) = (g.input("x", DType::F32, &[8, 8]), g.weight("weight", DType::F32, &[8, 8]));
        let first = g.op(Op::MulMat, &[weight, x]);
        g.label("first");
        let second = if through { g.unary(UnaryKind::Tanh, first) } else { first };
        let out = g.op(Op::MulMat, &[second, x]);
        g.output("out", out);
        Fixture::new("a weight made from a product", g, Data::new())
    };
    refuses(&made(true), RULE, "first", |why| matches!(why, Why::Between { .. }));
    refuses(&made(false), RULE, "first", |why| *why == Why::OwnResult { port: "w1" });
}

#[test]
fn declines_batches_of_columns_and_of_weights() {
    let batched = |weights: &[u64]| {
        let mut g = Import::default();
        let x = g.input("x", DType::F32, &[16, 3, 2]);
        for name in ["first", "second"] {
            let weight = g.weight(name, DType::F32, weights);
            let out = g.op(Op::MulMat, &[weight, x]);
            g.label(name);
            g.output(&format!("out.{name}"), out);
        }
        Fixture::new("batches", g, Data::new())
    };
    for weights in [&[16, 5][..], &[16, 5, 2]] {
        refuses(&batched(weights), RULE, "first", |why| matches!(why, Why::Extent { dim: 2, .. }));
    }
}
