//! `gated_attention`: attention and the gate of its result.

use crate::expect::{fires, near, planned, reason, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind, UnaryKind};
use weft_tests::graphs::cached::{Meet, gated, sequences};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, claims, small};
use weft_tests::run::Data;

const RULE: &str = "gated_attention";

fn fixture() -> Fixture {
    small::gated_attention()
}

#[test]
fn fires_with_either_gate_function_and_either_order() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "opened", Change::Op(Op::Unary { kind: UnaryKind::Silu })), RULE, 1);
    fires(&near(&fixture(), "gated", Change::Swapped), RULE, 1);
}

#[test]
fn fires_without_mask_and_without_sinks() {
    fires(&near(&fixture(), "attention", Change::NoSource(3)), RULE, 1);
    fires(&near(&fixture(), "attention", Change::NoSource(4)), RULE, 1);
}

#[test]
fn fires_over_segments_head_by_head_and_on_whole_rows() {
    for meet in [Meet::Heads, Meet::Rows] {
        for (kind, tokens) in [(UnaryKind::Sigmoid, 1), (UnaryKind::Sigmoid, 6), (UnaryKind::Silu, 3)] {
            fires(&gated(kind, meet, tokens), RULE, 1);
        }
    }
}

#[test]
fn fires_on_several_sequences_at_once() {
    fires(&sequences(), RULE, 1);
}

#[test]
fn fires_on_gates_as_they_lie() {
    for what in [Between::View, Between::Turned, Between::Repeated, Between::Copy] {
        fires(&near(&fixture(), "opened", Change::Via(0, what)), RULE, 1);
    }
}

#[test]
fn declines_other_functions() {
    let soft = near(&fixture(), "opened", Change::Op(Op::Unary { kind: UnaryKind::Softplus }));
    refuses(&soft, RULE, "attention", |why| *why == Why::Attr { what: "kind" });
    let sum = near(&fixture(), "gated", Change::Op(Op::Binary { kind: BinaryKind::Add }));
    refuses(&sum, RULE, "attention", |why| *why == Why::Attr { what: "kind" });
    let other = near(&fixture(), "gated", Change::Op(Op::Swiglu));
    refuses(
        &other,
        RULE,
        "attention",
        |why| matches!(why, Why::NoOperand { want: OpKind::Binary, found } if found == &[OpKind::Swiglu]),
    );
}

#[test]
fn declines_what_stands_between_and_leaves_the_gate_to_the_smaller_rule() {
    let scaled = near(&fixture(), "gated", Change::Via(0, Between::Scale));
    refuses(
        &scaled,
        RULE,
        "attention",
        |why| matches!(why, Why::NoOperand { want: OpKind::Binary, found } if found == &[OpKind::Scale]),
    );
    assert_eq!(claims(&planned(&scaled.graph), "swiglu"), 1);
    let scaled = near(&fixture(), "gated", Change::Via(1, Between::Scale));
    refuses(&scaled, RULE, "attention", |why| *why == Why::Op { want: OpKind::Unary, got: OpKind::Scale });
    for index in [0, 1] {
        let turned = near(&fixture(), "gated", Change::Via(index, Between::Turned));
        refuses(&turned, RULE, "attention", |why| matches!(why, Why::Rearranged { .. }));
    }
}

#[test]
fn declines_inner_values_that_others_want() {
    for label in ["attention", "opened"] {
        refuses(&near(&fixture(), label, Change::Reader), RULE, "attention", |why| {
            matches!(why, Why::Escapes { .. })
        });
        refuses(&near(&fixture(), label, Change::Output), RULE, "attention", |why| {
            matches!(why, Why::IsOutput { .. })
        });
    }
}

/// Attention with a gate that is made of something else.
fn with_gate(
    name: &str,
    gate: impl Fn(&mut Import, weft_tests::graphs::import::Value) -> weft_tests::graphs::import::Value,
) -> Fixture {
    let mut g = Import::default();
    let q = g.input("q", DType::F32, &[16, 3, 4]);
    let [k, v] = ["k", "v"].map(|name| g.input(name, DType::F32, &[16, 7, 2]));
    let attended = g.op(Op::FlashAttention { scale: 0.25 }, &[q, k, v]);
    g.label("attention");
    let gate = gate(&mut g, attended);
    let opened = g.unary(UnaryKind::Sigmoid, gate);
    let out = g.mul(attended, opened);
    g.output("out", out);
    Fixture::new(name, g, Data::new())
}

#[test]
fn declines_a_gate_for_all_tokens_or_heads_at_once() {
    for shape in [&[16][..], &[16, 4], &[1, 4, 3]] {
        let few = with_gate("few gates", |g, _| g.input("gate", DType::F32, shape));
        refuses(&few, RULE, "attention", |why| *why == Why::Rearranged { source: 0 });
    }
}

#[test]
fn declines_attention_that_gates_itself() {
    let own = with_gate("attention gated by itself", |_, attended| attended);
    refuses(&own, RULE, "attention", |why| *why == Why::OwnResult { port: "gate" });
    let through = with_gate("attention gated by its own scale", |g, attended| g.scale(attended, 2.0, 0.0));
    refuses(&through, RULE, "attention", |why| matches!(why, Why::Between { .. } | Why::Escapes { .. }));
}

#[test]
fn declines_a_gate_of_half_precision() {
    let half = with_gate("a gate of half precision", |g, _| g.input("gate", DType::F16, &[16, 4, 3]));
    // The smaller rule takes it, and need not round the gate's function to half precision.
    let plan = planned(&half.graph);
    let why = reason(&plan, RULE, "attention");
    assert!(matches!(why, Some(Why::DType { port: "gate", got: DType::F16, .. })), "{why:?}");
    assert_eq!(claims(&plan, "swiglu"), 1);
}
