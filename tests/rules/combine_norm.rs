//! `combine_norm`: a layer's output added to the residual streams by shares, and the norm of each stream.

use crate::expect::{fires, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, Op, OpKind, UnaryKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::{Fixture, small};

const RULE: &str = "combine_norm";

fn fixture() -> Fixture {
    small::combine_norm()
}

#[test]
fn fires_on_streams_that_share_a_row() {
    fires(&fixture(), RULE, 1);
}

#[test]
fn declines_other_functions() {
    for (label, kind) in [("sum", BinaryKind::Sub), ("added", BinaryKind::Add)] {
        let other = near(&fixture(), label, Change::Op(Op::Binary { kind }));
        refuses(&other, RULE, "norm", |why| *why == Why::Attr { what: "kind" });
    }
    let silu = near(&fixture(), "opened", Change::Op(Op::Unary { kind: UnaryKind::Silu }));
    refuses(&silu, RULE, "norm", |why| *why == Why::Attr { what: "kind" });
    for label in ["gain", "weight"] {
        let shifted = near(&fixture(), label, Change::Op(Op::Scale { scale: 2.0, bias: 1.0 }));
        refuses(&shifted, RULE, "norm", |why| *why == Why::Attr { what: "bias" });
    }
}

#[test]
fn declines_what_stands_between() {
    let scaled = near(&fixture(), "norm", Change::Via(0, Between::Scale));
    refuses(&scaled, RULE, "norm", |why| *why == Why::Op { want: OpKind::Binary, got: OpKind::Scale });
    let turned = near(&fixture(), "gain", Change::Via(0, Between::Turned));
    refuses(&turned, RULE, "norm", |why| *why == Why::Rearranged { source: 0 });
}

#[test]
fn declines_values_that_others_want() {
    for label in ["opened", "gain", "added", "norm"] {
        let read = near(&fixture(), label, Change::Reader);
        refuses(&read, RULE, "norm", |why| matches!(why, Why::Escapes { .. }));
        let shown = near(&fixture(), label, Change::Output);
        refuses(&shown, RULE, "norm", |why| matches!(why, Why::IsOutput { .. }));
    }
}
