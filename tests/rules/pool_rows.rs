//! `pool_rows`: the way of index keys of whole blocks into their cache.

use crate::expect::{fires, leaves, near, refuses};
use weft_core::driver::Why;
use weft_core::graph::{BinaryKind, DType, Op, OpKind};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::import::Import;
use weft_tests::graphs::{Fixture, small};
use weft_tests::run::{Data, int_bytes};

const RULE: &str = "pool_rows";

fn fixture() -> Fixture {
    small::pool_rows()
}

/// Refused, and the way behind the mean is still one dispatch.
fn leaves_the_rest(fixture: &Fixture, fits: impl Fn(&Why) -> bool) {
    leaves(fixture, RULE, "store", "norm_rope_rows", fits);
}

#[test]
fn fires_on_means_of_a_cache() {
    fires(&fixture(), RULE, 1);
}

#[test]
fn declines_what_stands_between() {
    let shifted = near(&fixture(), "mean", Change::Op(Op::Scale { scale: 0.25, bias: 1.0 }));
    leaves_the_rest(&shifted, |why| *why == Why::Attr { what: "bias" });
    // A second factor is the mean then.
    let between = [("norm", OpKind::SumRows), ("mean", OpKind::SumRows), ("sum", OpKind::GetRows)];
    for (label, want) in between {
        let scaled = near(&fixture(), label, Change::Via(0, Between::Scale));
        leaves_the_rest(&scaled, |why| *why == Why::Op { want, got: OpKind::Scale });
    }
    let halved = near(&fixture(), "norm", Change::Via(0, Between::Half));
    refuses(&halved, RULE, "store", |why| *why == Why::Op { want: OpKind::Scale, got: OpKind::Cast });
    let sum = near(&fixture(), "weighted", Change::Op(Op::Binary { kind: BinaryKind::Add }));
    refuses(&sum, RULE, "store", |why| *why == Why::Attr { what: "kind" });
}

#[test]
fn declines_inner_values_that_others_want() {
    for label in ["members", "sum", "mean"] {
        let read = near(&fixture(), label, Change::Reader);
        leaves_the_rest(&read, |why| matches!(why, Why::Escapes { .. }));
        let shown = near(&fixture(), label, Change::Output);
        leaves_the_rest(&shown, |why| matches!(why, Why::IsOutput { .. }));
    }
}

/// The members of 4 blocks of 4, 16 values each, summed in this order of dimensions; then normed, and turned under this shape at
/// these positions.
fn pooled(order: [usize; 4], normed: &[u64], turned: &[u64], positions: u64) -> Fixture {
    let mut g = Import::default();
    let table = g.state("raw", DType::F32, &[16, 20]);
    let cells = g.input("cells", DType::I32, &[16]);
    let members = g.op(Op::GetRows, &[table, cells]);
    let members = g.reshape(members, &[16, 4, 4]);
    let across = g.permute(members, order);
    let sum = g.op(Op::SumRows, &[across]);
    let sum = g.reshape(sum, normed);
    let mean = g.scale(sum, 0.25, 0.0);
    let weight = g.weight("weight", DType::F32, &[normed[0]]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[mean]);
    let weighted = g.mul(norm, weight);
    let weighted = g.reshape(weighted, turned);
    let axes = g.input("positions", DType::I32, &[positions]);
    let rope = g.op(small::rope(8), &[weighted, axes]);
    let flat = g.reshape(rope, &[16, 4]);
    let pool = g.state("pooled", DType::F32, &[16, 9]);
    let rows = g.input("rows", DType::I32, &[4]);
    g.op(Op::SetRows, &[pool, flat, rows]);
    g.label("store");
    let ints = |count: u64| int_bytes(&(0..count as i32).collect::<Vec<_>>());
    let data = [("cells", 16), ("positions", positions), ("rows", 4)];
    let data: Data = data.into_iter().map(|(name, count)| (name.to_owned(), ints(count))).collect();
    Fixture::new("means", g, data)
}

#[test]
fn declines_sums_over_anything_else_and_heads_that_are_not_means() {
    fires(&pooled([1, 0, 2, 3], &[16, 1, 4], &[16, 1, 4], 4), RULE, 1);
    let blocks = pooled([2, 0, 1, 3], &[16, 1, 4], &[16, 1, 4], 4);
    refuses(&blocks, RULE, "store", |why| *why == Why::Rearranged { source: 0 });
    let heads = |why: &Why| *why == Why::NotSame { what: "the heads are not the means" };
    // All means at one position; heads of half a mean; heads that are halves only where they turn.
    refuses(&pooled([1, 0, 2, 3], &[16, 4, 1], &[16, 4, 1], 1), RULE, "store", heads);
    refuses(&pooled([1, 0, 2, 3], &[8, 2, 4], &[8, 2, 4], 4), RULE, "store", heads);
    let turned = pooled([1, 0, 2, 3], &[16, 1, 4], &[8, 2, 4], 4);
    refuses(&turned, RULE, "store", |why| *why == Why::Rearranged { source: 0 });
}

#[test]
fn declines_a_cache_of_another_type() {
    let mut g = Import::default();
    let table = g.state("raw", DType::Q8_0, &[32, 20]);
    let cells = g.input("cells", DType::I32, &[8]);
    let members = g.op(Op::GetRows, &[table, cells]);
    let members = g.reshape(members, &[32, 4, 2]);
    let across = g.permute(members, [1, 0, 2, 3]);
    let sum = g.op(Op::SumRows, &[across]);
    let sum = g.reshape(sum, &[32, 1, 2]);
    let mean = g.scale(sum, 0.25, 0.0);
    let weight = g.weight("weight", DType::F32, &[32]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[mean]);
    let weighted = g.mul(norm, weight);
    let positions = g.input("positions", DType::I32, &[2]);
    let rope = g.op(small::rope(16), &[weighted, positions]);
    let flat = g.reshape(rope, &[32, 2]);
    let pool = g.state("pooled", DType::F32, &[32, 9]);
    let rows = g.input("rows", DType::I32, &[2]);
    g.op(Op::SetRows, &[pool, flat, rows]);
    g.label("store");
    let data = [("cells", vec![0, 1, 2, 3, 4, 5, 6, 19]), ("positions", vec![0, 4]), ("rows", vec![8, 1])];
    let data = data.map(|(name, ints)| (name.to_owned(), int_bytes(&ints)));
    leaves_the_rest(&Fixture::new("blocks", g, Data::from(data)), |why| {
        matches!(why, Why::DType { port: "cache", got: DType::Q8_0, .. })
    });
}
