//! Two sequences in one buffer at interleaved ranges, and operations in place on views of it.

use super::Fixture;
use super::import::Import;
use crate::run::Data;
use weft_core::graph::{DType, Op, UnaryKind};

/// Two sequences, each with its own half of every row. All nodes of one carry the label `one`, of the other `two`.
pub fn interleaved() -> Fixture {
    let (width, rows) = (16, 5);
    let mut g = Import::default();
    let buffer = g.state("buffer", DType::F32, &[2 * width, rows]);
    let factor = g.weight("factor", DType::F32, &[width]);
    let halves = [g.slice(buffer, 0, 0, width), g.slice(buffer, 0, width, width)];
    let mut sums = Vec::new();
    for _ in 0..3 {
        for (half, label) in halves.into_iter().zip(["one", "two"]) {
            g.in_place(Op::Scale { scale: 0.5, bias: 0.25 }, &[half]);
            g.label(label);
            let soft = g.unary(UnaryKind::Tanh, half);
            g.label(label);
            g.in_place(Op::Binary { kind: weft_core::graph::BinaryKind::Add }, &[half, soft]);
            g.label(label);
            let weighted = g.mul(half, factor);
            g.label(label);
            sums.push(weighted);
        }
    }
    for (index, sum) in sums.into_iter().enumerate() {
        g.output(&format!("sum{index}"), sum);
    }
    Fixture::new("interleaved sequences", g, Data::new())
}

/// In-place sums and factors on overlapping windows of one row: each step sees what the last one wrote.
pub fn windows() -> Fixture {
    let mut g = Import::default();
    let row = g.state("row", DType::F32, &[24]);
    let ones = g.input("ones", DType::F32, &[8]);
    for start in [0, 4, 8, 12, 16, 10, 2] {
        let window = g.slice(row, 0, start, 8);
        g.in_place(Op::Binary { kind: weft_core::graph::BinaryKind::Add }, &[window, ones]);
        let inner = g.slice(window, 0, 2, 4);
        g.in_place(Op::Scale { scale: 0.75, bias: 0.0 }, &[inner]);
    }
    let end = g.scale(row, 1.0, 0.0);
    g.output("end", end);
    Fixture::new("overlapping windows", g, Data::new())
}

/// Copies from one end of a buffer to the other and back, over ranges that meet.
pub fn shuffled_copies() -> Fixture {
    let mut g = Import::default();
    let buffer = g.state("buffer", DType::F32, &[4, 12]);
    let rows = |g: &mut Import, start, count| g.slice(buffer, 1, start, count);
    for (from, to, count) in [(0, 6, 4), (8, 1, 4), (4, 0, 3), (1, 7, 5), (9, 3, 2), (3, 5, 2)] {
        let (source, target) = (rows(&mut g, from, count), rows(&mut g, to, count));
        g.op(Op::Copy, &[source, target]);
    }
    let end = g.scale(buffer, 2.0, 0.0);
    g.output("end", end);
    Fixture::new("copies that meet", g, Data::new())
}

/// Rows scattered into a filled tensor: the rows that are not hit keep the fill's value.
pub fn partial_writes() -> Fixture {
    let mut g = Import::default();
    let like = g.input("like", DType::F32, &[16, 6]);
    let rows = g.input("rows", DType::I32, &[2]);
    let table = g.op(Op::Fill { value: 0.5 }, &[like]);
    let opened = g.in_place(Op::Unary { kind: UnaryKind::Silu }, &[table]);
    g.label("opened");
    let product = g.mul(opened, like);
    g.label("product");
    g.output("product", product);
    let picked = g.slice(product, 1, 0, 2);
    g.op(Op::SetRows, &[table, picked, rows]);
    g.label("scatter");
    let end = g.scale(table, 1.0, 0.0);
    g.output("end", end);
    let mut data = Data::new();
    data.insert("rows".to_owned(), crate::run::int_bytes(&[4, 1]));
    Fixture::new("rows scattered over a gate", g, data)
}

/// All of them.
pub fn all() -> Vec<Fixture> {
    vec![interleaved(), windows(), shuffled_copies(), partial_writes()]
}
