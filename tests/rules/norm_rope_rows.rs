//! `norm_rope_rows`: the way of keys into their cache.

use crate::expect::{fires, near, planned, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind};
use weft_tests::graphs::cached::{self, Keys, SMALL};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, claims, small};
use weft_tests::run::{Data, int_bytes};

const RULE: &str = "norm_rope_rows";

fn fixture() -> Fixture {
    SMALL.fixture("keys")
}

#[test]
fn fires_on_keys_in_all_their_forms() {
    fires(&fixture(), RULE, 1);
    for (name, keys) in cached::keys() {
        fires(&keys.fixture(name), RULE, 1);
    }
    fires(&near(&fixture(), "rope", Change::NoSource(2)), RULE, 1);
}

#[test]
fn declines_what_stands_between_and_leaves_the_rest_to_the_smaller_rule() {
    let scaled = near(&fixture(), "store", Change::Via(1, Between::Scale));
    refuses(&scaled, RULE, "store", |why| *why == Why::Op { want: OpKind::Rope, got: OpKind::Scale });
    assert_eq!(claims(&planned(&scaled.graph), "norm_rope"), 1);
    let half = near(&fixture(), "store", Change::Via(1, Between::Half));
    refuses(&half, RULE, "store", |why| *why == Why::Op { want: OpKind::Rope, got: OpKind::Cast });
    let scaled = near(&fixture(), "rope", Change::Via(0, Between::Scale));
    refuses(&scaled, RULE, "store", |why| *why == Why::Op { want: OpKind::Binary, got: OpKind::Scale });
    let scaled = near(&fixture(), "weighted", Change::Via(0, Between::Scale));
    refuses(&scaled, RULE, "store", |why| *why == Why::Op { want: OpKind::RmsNorm, got: OpKind::Scale });
    let sum = near(&fixture(), "weighted", Change::Op(Op::Binary { kind: BinaryKind::Add }));
    refuses(&sum, RULE, "store", |why| *why == Why::Attr { what: "kind" });
}

#[test]
fn declines_keys_in_another_order_and_parts_of_them() {
    let repeated = near(&fixture(), "store", Change::Via(1, Between::Repeated));
    refuses(&repeated, RULE, "store", |why| *why == Why::Rearranged { source: 1 });
    let turned = near(&fixture(), "rope", Change::Via(0, Between::Turned));
    refuses(&turned, RULE, "store", |why| *why == Why::Rearranged { source: 0 });
    let patched = near(&fixture(), "rope", Change::Patch(0));
    refuses(&patched, RULE, "store", |why| matches!(why, Why::ManyWriters { source: 0, .. }));
}

#[test]
fn declines_inner_values_that_others_want() {
    for label in ["norm", "weighted", "rope"] {
        refuses(&near(&fixture(), label, Change::Reader), RULE, "store", |why| {
            matches!(why, Why::Escapes { .. })
        });
        refuses(&near(&fixture(), label, Change::Output), RULE, "store", |why| {
            matches!(why, Why::IsOutput { .. })
        });
    }
}

/// Keys that are stored under another shape, at as many rows as that has.
fn stored_as(shape: &[u64], cache: &[u64]) -> Fixture {
    let Keys { width, heads, tokens, .. } = SMALL;
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[width, heads, tokens]);
    let weight = g.weight("weight", DType::F32, &[width]);
    let positions = g.input("positions", DType::I32, &[tokens]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    let weighted = g.mul(norm, weight);
    let turned = g.op(small::rope(16), &[weighted, positions]);
    let flat = g.reshape(turned, shape);
    let cache = g.state("cache", DType::F32, cache);
    let rows = g.input("rows", DType::I32, &[shape[1]]);
    g.op(Op::SetRows, &[cache, flat, rows]);
    g.label("store");
    let ints = |count: u64| int_bytes(&(0..count as i32).collect::<Vec<_>>());
    let data = Data::from([("positions".to_owned(), ints(tokens)), ("rows".to_owned(), ints(shape[1]))]);
    Fixture::new("keys under another shape", g, data)
}

#[test]
fn declines_rows_that_are_not_all_heads_of_a_token() {
    refuses(&stored_as(&[16, 16], &[16, 20]), RULE, "store", |why| {
        matches!(why, Why::Extent { port: "rows", dim: 0, .. })
    });
    refuses(&stored_as(&[128, 2], &[128, 5]), RULE, "store", |why| {
        matches!(why, Why::Extent { port: "rows", dim: 0, .. })
    });
    refuses(&stored_as(&[16, 4, 4], &[16, 6, 4]), RULE, "store", |why| {
        matches!(why, Why::Extent { port: "out", .. })
    });
}

/// Two tokens' heads of 16, turned as heads of half that width.
#[test]
fn declines_heads_that_are_others_where_they_turn() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 1, 2]);
    let weight = g.weight("weight", DType::F32, &[16]);
    let positions = g.input("positions", DType::I32, &[2]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    let weighted = g.mul(norm, weight);
    let halves = g.reshape(weighted, &[8, 2, 2]);
    let turned = g.op(small::rope(8), &[halves, positions]);
    let flat = g.reshape(turned, &[16, 2]);
    let cache = g.state("cache", DType::F32, &[16, 5]);
    let rows = g.input("rows", DType::I32, &[2]);
    g.op(Op::SetRows, &[cache, flat, rows]);
    g.label("store");
    let data = [("positions", [3, 40]), ("rows", [4, 1])];
    let data = data.map(|(name, ints)| (name.to_owned(), int_bytes(&ints)));
    let fixture = Fixture::new("heads that are others", g, Data::from(data));
    refuses(&fixture, RULE, "store", |why| *why == Why::Rearranged { source: 0 });
}

#[test]
fn declines_values_that_are_not_turned() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 4]);
    let cache = g.state("cache", DType::F32, &[16, 9]);
    let rows = g.input("rows", DType::I32, &[4]);
    g.op(Op::SetRows, &[cache, x, rows]);
    g.label("store");
    let data = Data::from([("rows".to_owned(), int_bytes(&[3, -1, 8, 0]))]);
    refuses(&Fixture::new("values", g, data), RULE, "store", |why| *why == Why::Missing { source: 1 });
}

#[test]
fn declines_half_precision_keys() {
    let half = near(&fixture(), "norm", Change::Via(0, Between::Half));
    refuses(&half, RULE, "store", |why| matches!(why, Why::DType { port: "x", got: DType::F16, .. }));
}
