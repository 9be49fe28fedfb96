//! `gdn_layer`: from the convolution to the gated norm in one dispatch, states in place.

use crate::expect::{fires, near, reason, refuses, right};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, L2Form, Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::segmented::{self, Segmented};
use weft_tests::graphs::small::SQUARE;
use weft_tests::graphs::{Fixture, odd};

const RULE: &str = "gdn_layer";

/// As many tokens as heads, every slot in use.
fn fixture() -> Fixture {
    let segments = vec![segmented::segment(0, 0, 4, 9)];
    Segmented { key_heads: 4, value_heads: 4, slots: 1, segments, ..segmented::one(4) }.fixture("layer")
}

#[test]
fn fires_on_the_layer_and_its_variants() {
    for (name, layer) in segmented::variants() {
        fires(&layer.fixture(name), RULE, 1);
    }
}

#[test]
fn declines_a_layer_without_segments() {
    refuses(&SQUARE.fixture("without segments"), RULE, "net", |why| *why == Why::Missing { source: 6 });
}

#[test]
fn declines_slices_that_are_not_q_k_v_of_one_row() {
    let slices = |why: &Why| matches!(why, Why::NotSame { what } if what.contains("slices"));
    refuses(&near(&fixture(), "net", Change::Swapped), RULE, "net", slices);
    refuses(&near(&fixture(), "net", Change::Twice), RULE, "net", slices);
    refuses(&near(&fixture(), "q_norm", Change::Via(0, Between::Turned)), RULE, "net", slices);
    refuses(&near(&fixture(), "net", Change::Via(2, Between::Turned)), RULE, "net", slices);
    refuses(&near(&fixture(), "net", Change::Via(2, Between::Copy)), RULE, "net", slices);
}

#[test]
fn declines_other_functions() {
    let unary = |kind| Change::Op(Op::Unary { kind });
    for (label, change) in [
        ("silu", unary(UnaryKind::Sigmoid)),
        ("soft", unary(UnaryKind::Silu)),
        ("beta", unary(UnaryKind::Silu)),
        ("opened", unary(UnaryKind::Softplus)),
        ("weighted", Change::Op(Op::Binary { kind: BinaryKind::Add })),
        ("gated", Change::Op(Op::Binary { kind: BinaryKind::Add })),
    ] {
        refuses(&near(&fixture(), label, change), RULE, "net", |why| *why == Why::Attr { what: "kind" });
    }
    let uneven = near(&fixture(), "q_norm", Change::Op(Op::L2Norm { eps: 1e-6, form: L2Form::MaxEps }));
    refuses(&uneven, RULE, "net", |why| *why == Why::Attr { what: "eps and form" });
    let unnormed = near(&fixture(), "norm", Change::Op(Op::L2Norm { eps: 1e-6, form: L2Form::SumEps }));
    refuses(&unnormed, RULE, "net", |why| matches!(why, Why::NoOperand { want: OpKind::RmsNorm, .. }));
}

#[test]
fn declines_inner_values_that_others_want() {
    for label in
        ["conv", "silu", "q_norm", "k_norm", "shifted", "soft", "decay", "beta", "norm", "weighted", "opened"]
    {
        refuses(&near(&fixture(), label, Change::Reader), RULE, "net", |why| {
            matches!(why, Why::Escapes { .. })
        });
        refuses(&near(&fixture(), label, Change::Output), RULE, "net", |why| {
            matches!(why, Why::IsOutput { .. })
        });
    }
    refuses(&near(&fixture(), "net", Change::Reader), RULE, "net", |why| matches!(why, Why::Escapes { .. }));
}

#[test]
fn declines_other_segments_or_other_rows_for_the_history() {
    let other = near(&fixture(), "net", Change::Via(6, Between::Copy));
    refuses(&other, RULE, "net", |why| *why == Why::NotSame { what: "segments" });
    let other = near(&fixture(), "keep", Change::Via(0, Between::Copy));
    refuses(&other, RULE, "net", |why| matches!(why, Why::NotSame { what } if what.contains("rows")));
    let other = near(&fixture(), "conv", Change::Via(2, Between::Copy));
    refuses(&other, RULE, "net", |why| matches!(why, Why::NoOperand { want: OpKind::ConvHistory, .. }));
}

#[test]
fn declines_writers_in_between() {
    let patched = near(&fixture(), "keep", Change::Patch(1));
    refuses(&patched, RULE, "net", |why| matches!(why, Why::WriteBetween { port: "history", .. }));
    let whole = near(&fixture(), "keep", Change::Writer(1));
    refuses(
        &whole,
        RULE,
        "net",
        |why| matches!(why, Why::NoOperand { want: OpKind::ConvHistory, found } if found == &[OpKind::Scale]),
    );
    refuses(&odd::changing_projection(), RULE, "net", |why| matches!(why, Why::InputUnbound { source: 0 }));
}

#[test]
fn declines_what_its_contract_cannot_address() {
    refuses(&odd::slanted_projection(), RULE, "net", |why| {
        matches!(why, Why::Derived { name: "row_stride", port: "x", .. })
    });
    let plan = crate::expect::planned(&odd::many_heads().graph);
    let why = reason(&plan, RULE, "net");
    assert!(matches!(why, Some(Why::Constant { .. })), "{why:?}");
    right(&odd::narrow_heads());
}

#[test]
fn takes_a_padded_projection_and_padded_gates_as_they_lie() {
    fires(&Segmented { pad: 3, ..segmented::one(7) }.fixture("padded"), RULE, 1);
    for label in ["shifted", "beta", "opened"] {
        fires(&near(&fixture(), label, Change::Via(0, Between::Turned)), RULE, 1);
    }
}
