//! `add_rms_norm`: a residual sum and its weighted norm.

use crate::expect::{fires, near, refuses, right};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, odd, small};
use weft_tests::run::Data;

const RULE: &str = "add_rms_norm";

fn fixture() -> Fixture {
    small::add_rms_norm()
}

/// The pattern with a second operand and a weight of these shapes.
fn shaped(second: &[u64], weight: &[u64]) -> Fixture {
    let mut g = Import::default();
    let a = g.input("a", DType::F32, &[16, 4]);
    let b = g.input("b", DType::F32, second);
    let weight = g.weight("weight", DType::F32, weight);
    let sum = g.add(a, b);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
    g.label("norm");
    let out = g.mul(norm, weight);
    g.output("sum", sum);
    g.output("out", out);
    Fixture::new(format!("second operand {second:?}"), g, Data::new())
}

#[test]
fn fires_where_a_sum_is_normed_and_kept() {
    fires(&fixture(), RULE, 1);
    fires(&shaped(&[16, 4], &[16]), RULE, 1);
    fires(&small::four_extents()[0], RULE, 1);
}

#[test]
fn fires_when_the_weight_is_the_first_factor_or_the_sum_is_in_place() {
    let state = {
        let mut g = Import::default();
        let a = g.state("a", DType::F32, &[16, 4]);
        let b = g.input("b", DType::F32, &[16, 4]);
        let weight = g.weight("weight", DType::F32, &[16]);
        let sum = g.in_place(Op::Binary { kind: BinaryKind::Add }, &[a, b]);
        let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
        let out = g.mul(norm, weight);
        g.output("out", out);
        Fixture::new("a residual in place", g, Data::new())
    };
    fires(&state, RULE, 1);
    let one_row = {
        let mut g = Import::default();
        let (a, b) = (g.input("a", DType::F32, &[16]), g.input("b", DType::F32, &[16]));
        let weight = g.weight("weight", DType::F32, &[16]);
        let sum = g.add(a, b);
        let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
        let out = g.mul(weight, norm);
        g.output("out", out);
        Fixture::new("weight first", g, Data::new())
    };
    fires(&one_row, RULE, 1);
}

#[test]
fn declines_another_function_than_a_sum() {
    let difference = near(&fixture(), "sum", Change::Op(Op::Binary { kind: BinaryKind::Sub }));
    refuses(&difference, RULE, "norm", |why| *why == Why::Attr { what: "kind" });
    let product = near(&fixture(), "weighted", Change::Op(Op::Binary { kind: BinaryKind::Add }));
    refuses(&product, RULE, "norm", |why| *why == Why::Attr { what: "kind" });
}

#[test]
fn declines_what_stands_between() {
    let scaled = near(&fixture(), "norm", Change::Via(0, Between::Scale));
    refuses(&scaled, RULE, "norm", |why| *why == Why::Op { want: OpKind::Binary, got: OpKind::Scale });
    let turned = near(&fixture(), "norm", Change::Via(0, Between::Turned));
    refuses(&turned, RULE, "norm", |why| *why == Why::Rearranged { source: 0 });
    let patched = near(&fixture(), "norm", Change::Patch(0));
    refuses(&patched, RULE, "norm", |why| matches!(why, Why::ManyWriters { source: 0, .. }));
    let copied = near(&fixture(), "weighted", Change::Via(0, Between::Copy));
    refuses(
        &copied,
        RULE,
        "norm",
        |why| matches!(why, Why::NoOperand { want: OpKind::Binary, found } if found == &[OpKind::Cast]),
    );
}

#[test]
fn declines_when_the_norm_is_wanted_by_somebody_else() {
    refuses(&near(&fixture(), "norm", Change::Reader), RULE, "norm", |why| {
        matches!(why, Why::Escapes { .. })
    });
    refuses(&near(&fixture(), "norm", Change::Output), RULE, "norm", |why| {
        matches!(why, Why::IsOutput { .. })
    });
    // The sum is produced: it may be read by anybody.
    fires(&near(&fixture(), "sum", Change::Reader), RULE, 1);
}

#[test]
fn declines_operands_that_are_repeated_or_of_another_type() {
    refuses(&shaped(&[16], &[16]), RULE, "norm", |why| matches!(why, Why::Extent { port: "b", dim: 1, .. }));
    refuses(&shaped(&[16, 4], &[16, 4]), RULE, "norm", |why| {
        matches!(why, Why::Extent { port: "weight", .. })
    });
    let half = near(&fixture(), "sum", Change::Via(1, Between::Half));
    refuses(&half, RULE, "norm", |why| matches!(why, Why::DType { port: "b", got: DType::F16, .. }));
}

#[test]
fn declines_a_weight_that_needs_the_sum() {
    let fixture = odd::weight_of_its_own_sum();
    refuses(&fixture, RULE, "norm", |why| matches!(why, Why::Between { .. }));
}

#[test]
fn only_one_of_two_norms_takes_the_sum() {
    let fixture = odd::two_norms_of_one_sum();
    fires(&fixture, RULE, 1);
    fires(&fixture, "rms_norm_weight", 1);
    right(&fixture);
}
