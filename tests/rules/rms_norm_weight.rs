//! `rms_norm_weight`: a norm and its weight.

use crate::expect::{fires, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, small};
use weft_tests::run::Data;

const RULE: &str = "rms_norm_weight";

fn fixture() -> Fixture {
    small::rms_norm_weight()
}

#[test]
fn fires_on_a_weighted_norm() {
    fires(&fixture(), RULE, 1);
}

#[test]
fn fires_on_half_precision_rows_and_through_a_reshape() {
    fires(&near(&fixture(), "norm", Change::Via(0, Between::Half)), RULE, 1);
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 6]);
    let weight = g.weight("weight", DType::F32, &[16]);
    let x = g.reshape(x, &[16, 3, 2]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    let out = g.mul(norm, weight);
    let flat = g.reshape(out, &[96]);
    g.output("out", flat);
    fires(&Fixture::new("reshaped around", g, Data::new()), RULE, 1);
}

#[test]
fn declines_a_sum_in_the_place_of_the_product() {
    let sum = near(&fixture(), "weighted", Change::Op(Op::Binary { kind: BinaryKind::Add }));
    refuses(&sum, RULE, "norm", |why| *why == Why::Attr { what: "kind" });
}

#[test]
fn declines_a_second_reader_and_an_output() {
    refuses(&near(&fixture(), "norm", Change::Reader), RULE, "norm", |why| {
        matches!(why, Why::Escapes { .. })
    });
    refuses(&near(&fixture(), "norm", Change::Output), RULE, "norm", |why| {
        matches!(why, Why::IsOutput { .. })
    });
}

#[test]
fn declines_a_view_that_turns_the_norm() {
    let turned = near(&fixture(), "weighted", Change::Via(0, Between::Turned));
    refuses(&turned, RULE, "norm", |why| *why == Why::Rearranged { source: 0 });
}

#[test]
fn declines_a_norm_times_itself() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    g.label("norm");
    let square = g.mul(norm, norm);
    g.output("out", square);
    let fixture = Fixture::new("a norm times itself", g, Data::new());
    refuses(&fixture, RULE, "norm", |why| *why == Why::OwnResult { port: "weight" });
}

#[test]
fn declines_a_weight_per_row() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 3]);
    let weight = g.weight("weight", DType::F32, &[16, 3]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    g.label("norm");
    let out = g.mul(norm, weight);
    g.output("out", out);
    let fixture = Fixture::new("a weight per row", g, Data::new());
    refuses(&fixture, RULE, "norm", |why| matches!(why, Why::Extent { port: "weight", dim: 1, got: 3, .. }));
}

#[test]
fn declines_when_the_product_feeds_something_else() {
    let copied = near(&fixture(), "weighted", Change::Via(0, Between::Copy));
    refuses(
        &copied,
        RULE,
        "norm",
        |why| matches!(why, Why::NoOperand { want: OpKind::Binary, found } if found == &[OpKind::Cast]),
    );
}
