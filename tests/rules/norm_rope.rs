//! `norm_rope`: a norm per head, then rotary embedding.

use crate::expect::{fires, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind, RopeKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, small};
use weft_tests::run::{Data, int_bytes};

const RULE: &str = "norm_rope";

fn fixture() -> Fixture {
    small::norm_rope()
}

/// q as a slice of rows that hold query and gate per head, with this embedding.
fn sliced(op: Op, axes: usize) -> Fixture {
    let (width, heads, tokens) = (16, 3, 5);
    let mut g = Import::default();
    let both = g.input("both", DType::F32, &[2 * width * heads, tokens]);
    let weight = g.weight("weight", DType::F32, &[width]);
    let positions = g.input("positions", DType::I32, &[axes as u64 * tokens]);
    let row = 2 * width * heads * 4;
    let q = g.view(both, [width, heads, tokens, 1], [4, 2 * width * 4, row, row * tokens], 0);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[q]);
    let weighted = g.mul(norm, weight);
    let out = g.op(op, &[weighted, positions]);
    g.output("out", out);
    let places: Vec<i32> = (0..axes as i32 * tokens as i32).map(|i| 7 + i % tokens as i32).collect();
    let mut data = Data::new();
    data.insert("positions".to_owned(), int_bytes(&places));
    Fixture::new(format!("sliced, {axes} axes"), g, data)
}

fn embedding(kind: RopeKind, dims: u32) -> Op {
    let Op::Rope(rope) = small::rope(dims) else { unreachable!("a rotary embedding") };
    Op::Rope(weft_core::graph::Rope { kind, sections: [3, 3, 2, 0], ..rope })
}

#[test]
fn fires_with_divisors_and_without() {
    fires(&fixture(), RULE, 1);
    fires(&near(&fixture(), "rope", Change::NoSource(2)), RULE, 1);
}

#[test]
fn fires_on_slices_with_every_pairing_and_partial_rotation() {
    for (kind, axes) in [(RopeKind::Neox, 1), (RopeKind::Interleaved, 1), (RopeKind::MultiSection, 4)] {
        for dims in [8, 16] {
            fires(&sliced(embedding(kind, dims), axes), RULE, 1);
        }
    }
}

#[test]
fn declines_what_stands_between() {
    let scaled = near(&fixture(), "rope", Change::Via(0, Between::Scale));
    refuses(&scaled, RULE, "rope", |why| *why == Why::Op { want: OpKind::Binary, got: OpKind::Scale });
    let scaled = near(&fixture(), "weighted", Change::Via(0, Between::Scale));
    refuses(&scaled, RULE, "rope", |why| *why == Why::Op { want: OpKind::RmsNorm, got: OpKind::Scale });
    let turned = near(&fixture(), "rope", Change::Via(0, Between::Turned));
    refuses(&turned, RULE, "rope", |why| *why == Why::Rearranged { source: 0 });
    let patched = near(&fixture(), "rope", Change::Patch(0));
    refuses(&patched, RULE, "rope", |why| matches!(why, Why::ManyWriters { source: 0, .. }));
}

#[test]
fn declines_a_sum_in_the_place_of_the_weight() {
    let sum = near(&fixture(), "weighted", Change::Op(Op::Binary { kind: BinaryKind::Add }));
    refuses(&sum, RULE, "rope", |why| *why == Why::Attr { what: "kind" });
}

#[test]
fn declines_inner_values_that_others_want() {
    for label in ["norm", "weighted"] {
        refuses(&near(&fixture(), label, Change::Reader), RULE, "rope", |why| {
            matches!(why, Why::Escapes { .. })
        });
        refuses(&near(&fixture(), label, Change::Output), RULE, "rope", |why| {
            matches!(why, Why::IsOutput { .. })
        });
    }
}

#[test]
fn declines_half_precision_and_plain_values() {
    let half = near(&fixture(), "norm", Change::Via(0, Between::Half));
    refuses(&half, RULE, "rope", |why| matches!(why, Why::DType { port: "x", got: DType::F16, .. }));
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 4, 4]);
    let positions = g.input("positions", DType::I32, &[4]);
    let out = g.op(small::rope(16), &[x, positions]);
    g.label("rope");
    g.output("out", out);
    let plain = Fixture::new("without a norm", g, Data::new());
    refuses(&plain, RULE, "rope", |why| *why == Why::Missing { source: 0 });
}
