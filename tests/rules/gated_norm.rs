//! `gated_norm`: a weighted norm times the function of a gate.

use crate::expect::{fires, near, refuses, right};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, small};
use weft_tests::run::Data;

const RULE: &str = "gated_norm";

fn fixture() -> Fixture {
    small::gated_norm()
}

#[test]
fn fires_with_either_gate_function() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "opened", Change::Op(Op::Unary { kind: UnaryKind::Sigmoid })), RULE, 1);
}

#[test]
fn fires_with_the_gate_as_the_first_factor() {
    fires(&near(&fixture(), "gated", Change::Swapped), RULE, 1);
}

#[test]
fn declines_another_gate_function() {
    let soft = near(&fixture(), "opened", Change::Op(Op::Unary { kind: UnaryKind::Softplus }));
    refuses(&soft, RULE, "norm", |why| *why == Why::Attr { what: "kind" });
    let twice = near(&fixture(), "gated", Change::Twice);
    refuses(&twice, RULE, "norm", |why| *why == Why::Op { want: OpKind::Unary, got: OpKind::Binary });
    let sum = near(&fixture(), "gated", Change::Op(Op::Binary { kind: BinaryKind::Add }));
    refuses(&sum, RULE, "norm", |why| *why == Why::Attr { what: "kind" });
}

#[test]
fn declines_a_product_without_a_gate() {
    let plain = small::rms_norm_weight();
    refuses(
        &plain,
        RULE,
        "norm",
        |why| matches!(why, Why::NoOperand { want: OpKind::Binary, found } if found.is_empty()),
    );
}

#[test]
fn declines_inner_values_that_others_want() {
    for label in ["norm", "weighted", "opened"] {
        refuses(&near(&fixture(), label, Change::Reader), RULE, "norm", |why| {
            matches!(why, Why::Escapes { .. })
        });
        refuses(&near(&fixture(), label, Change::Output), RULE, "norm", |why| {
            matches!(why, Why::IsOutput { .. })
        });
    }
}

#[test]
fn declines_views_that_turn_inner_values() {
    let turned = near(&fixture(), "gated", Change::Via(0, Between::Turned));
    refuses(&turned, RULE, "norm", |why| *why == Why::Rearranged { source: 0 });
    let turned = near(&fixture(), "gated", Change::Via(1, Between::Turned));
    refuses(&turned, RULE, "norm", |why| *why == Why::Rearranged { source: 1 });
    // The gate itself may lie as it likes.
    fires(&near(&fixture(), "opened", Change::Via(0, Between::Turned)), RULE, 1);
}

#[test]
fn declines_half_precision() {
    let half = near(&fixture(), "norm", Change::Via(0, Between::Half));
    refuses(&half, RULE, "norm", |why| matches!(why, Why::DType { port: "x", got: DType::F16, .. }));
}

#[test]
fn declines_a_gate_that_is_repeated() {
    let mut g = Import::default();
    let (x, z) = (g.input("x", DType::F32, &[16, 4]), g.input("z", DType::F32, &[16]));
    let weight = g.weight("weight", DType::F32, &[16]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    g.label("norm");
    let weighted = g.mul(norm, weight);
    let opened = g.unary(UnaryKind::Silu, z);
    let out = g.mul(weighted, opened);
    g.output("out", out);
    let fixture = Fixture::new("one gate for all rows", g, Data::new());
    refuses(&fixture, RULE, "norm", |why| matches!(why, Why::Extent { port: "gate", dim: 1, .. }));
}

#[test]
fn declines_a_gate_that_is_changed_in_between() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 4]);
    let z = g.state("z", DType::F32, &[16, 4]);
    let weight = g.weight("weight", DType::F32, &[16]);
    let opened = g.unary(UnaryKind::Silu, z);
    g.in_place(Op::Scale { scale: 0.5, bias: 0.0 }, &[z]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    g.label("norm");
    let weighted = g.mul(norm, weight);
    let out = g.mul(weighted, opened);
    g.output("out", out);
    // Nothing in the claim waits for the writer: the whole claim moves before it.
    let fixture = Fixture::new("a gate that is scaled afterwards", g, Data::new());
    fires(&fixture, RULE, 1);
    right(&fixture);
}
