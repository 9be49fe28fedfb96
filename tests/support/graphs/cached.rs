//! Attention of models that keep keys in a cache: keys normed, turned and stored as rows; results gated.

use super::Fixture;
use super::import::{Import, Value};
use super::segmented::segment;
use super::small::rope;
use crate::run::{Data, bytes, int_bytes};
use weft_core::graph::{DType, Op, Rope, RopeKind, UnaryKind};
use weft_core::segment::Segment;

/// The path of a key into its cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keys {
    pub width: u64,
    pub heads: u64,
    pub tokens: u64,
    /// Rows of the cache.
    pub cells: u64,
    pub cache: DType,
    pub kind: RopeKind,
    pub dims: u32,
    pub divisors: bool,
    /// Type of the indices.
    pub index: DType,
    /// Floats between the heads, and between the rows of the cache; they hold NaN.
    pub gap: u64,
}

/// As many tokens as heads, so that a turned view keeps its shape.
pub const SMALL: Keys = Keys {
    width: 16,
    heads: 4,
    tokens: 4,
    cells: 9,
    cache: DType::F32,
    kind: RopeKind::Neox,
    dims: 16,
    divisors: true,
    index: DType::I32,
    gap: 0,
};

impl Keys {
    /// The graph.
    pub fn fixture(&self, name: impl Into<String>) -> Fixture {
        let Keys { width, heads, tokens, cells, gap, .. } = *self;
        let mut g = Import::default();
        let axes = if self.kind == RopeKind::MultiSection { 4 } else { 1 };
        let all = g.input("x", DType::F32, &[width + gap, heads, tokens]);
        let x = if gap == 0 { all } else { g.slice(all, 0, gap / 2, width) };
        let weight = g.weight("weight", DType::F32, &[width]);
        let positions = g.input("positions", DType::I32, &[axes * tokens]);
        let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
        g.label("norm");
        let weighted = g.mul(norm, weight);
        g.label("weighted");
        let Op::Rope(plain) = rope(self.dims) else { unreachable!("a rotary embedding") };
        let turn = Op::Rope(Rope { kind: self.kind, sections: [3, 3, 2, 0], ..plain });
        let mut sources = vec![weighted, positions];
        let mut data = Data::new();
        if self.divisors {
            sources.push(g.weight("divisors", DType::F32, &[u64::from(self.dims) / 2]));
            let far: Vec<f32> = (1..=self.dims / 2).map(|i| i as f32).collect();
            data.insert("divisors".to_owned(), bytes(&far));
        }
        let turned = g.op(turn, &sources);
        g.label("rope");
        let flat = g.reshape(turned, &[width * heads, tokens]);
        let whole = g.state("cache", self.cache, &[width * heads + gap, cells]);
        let cache = if gap == 0 { whole } else { g.slice(whole, 0, gap / 2, width * heads) };
        let rows = g.input("rows", self.index, &[tokens]);
        g.op(Op::SetRows, &[cache, flat, rows]);
        g.label("store");
        let places: Vec<i32> = (0..(axes * tokens) as i32).map(|i| 7 + 3 * (i % tokens as i32)).collect();
        data.insert("positions".to_owned(), int_bytes(&places));
        data.insert("rows".to_owned(), self.targets());
        if gap > 0 {
            let held = |row: u64, rows: u64| -> Vec<u8> {
                let value =
                    |i: u64| if i < gap / 2 || i >= gap / 2 + row { f32::NAN } else { 0.01 * i as f32 };
                bytes(&(0..rows * (row + gap)).map(|i| value(i % (row + gap)) + 1.0).collect::<Vec<_>>())
            };
            data.insert("x".to_owned(), held(width, heads * tokens));
            data.insert("cache".to_owned(), held(width * heads, cells));
        }
        Fixture::new(name, g, data)
    }

    /// Rows from the last one down; one is dropped.
    fn targets(&self) -> Vec<u8> {
        let row = |t: u64| if t == 1 { -1 } else { (self.cells - 1 - t) as i64 };
        let all = (0..self.tokens).map(row);
        match self.index {
            DType::I64 => all.flat_map(i64::to_le_bytes).collect(),
            _ => int_bytes(&all.map(|row| row as i32).collect::<Vec<_>>()),
        }
    }
}

/// The path in all its forms.
pub fn keys() -> Vec<(&'static str, Keys)> {
    vec![
        ("keys of one head", Keys { heads: 1, ..SMALL }),
        ("one key", Keys { tokens: 1, divisors: false, ..SMALL }),
        ("keys in half precision", Keys { cache: DType::F16, index: DType::I64, ..SMALL }),
        ("keys that turn by halves", Keys { dims: 8, kind: RopeKind::Interleaved, ..SMALL }),
        ("keys with sections", Keys { kind: RopeKind::MultiSection, heads: 3, tokens: 5, ..SMALL }),
        ("keys between gaps", Keys { gap: 4, ..SMALL }),
    ]
}

/// How a result and its gate meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meet {
    /// Head by head.
    Heads,
    /// In whole rows, the heads side by side.
    Rows,
}

/// Attention over two slots of a cache with the gate as half of the rows that hold queries and gates.
pub fn gated(kind: UnaryKind, meet: Meet, tokens: u64) -> Fixture {
    let (width, heads, groups, cells, slots) = (16, 4, 2, 12, 2);
    let mut g = Import::default();
    let both = g.input("both", DType::F32, &[2 * width, heads, tokens]);
    let (q, gate) = (g.slice(both, 0, 0, width), g.slice(both, 0, width, width));
    let q = g.permute(q, [0, 2, 1, 3]);
    let cache: Vec<Value> = ["k", "v"]
        .into_iter()
        .map(|name| {
            let whole = g.state(&format!("cache.{name}"), DType::F32, &[width, groups, cells, slots]);
            g.permute(whole, [0, 2, 1, 3])
        })
        .collect();
    let table = [segment(1, 0, 1, 5), segment(0, 1, tokens as u32 - 1, 2)];
    let segments = g.input("segments", DType::I32, &[8, 2]);
    let op = Op::FlashAttention { scale: 0.25 };
    let sources = [Some(q), Some(cache[0]), Some(cache[1]), None, None, Some(segments)];
    let attended = g.apply(op, &sources)[0];
    g.label("attention");
    let row = [width * heads, tokens];
    let (attended, opened) = match meet {
        Meet::Heads => {
            let opened = g.unary(kind, gate);
            g.label("opened");
            (attended, opened)
        }
        Meet::Rows => {
            let gate = g.packed_copy(gate);
            let opened = {
                let flat = g.reshape(gate, &row);
                g.unary(kind, flat)
            };
            g.label("opened");
            (g.reshape(attended, &row), opened)
        }
    };
    let out = g.mul(attended, opened);
    g.label("gated");
    g.output("out", out);
    let words: Vec<i32> = table.iter().flat_map(Segment::words).collect();
    let data = Data::from([("segments".to_owned(), int_bytes(&words))]);
    Fixture::new(format!("attention of {tokens} with a {kind:?} gate, {meet:?}"), g, data)
}

/// Attention of two sequences, each over cells of its own, gated.
pub fn sequences() -> Fixture {
    let mut g = Import::default();
    let q = g.input("q", DType::F32, &[16, 3, 4, 2]);
    let [k, v] = ["k", "v"].map(|name| g.input(name, DType::F16, &[16, 7, 2, 2]));
    let mask = g.input("mask", DType::F32, &[7, 3, 1, 2]);
    let gate = g.input("gate", DType::F32, &[16, 4, 3, 2]);
    let attended = g.op(Op::FlashAttention { scale: 0.25 }, &[q, k, v, mask]);
    let opened = g.unary(UnaryKind::Sigmoid, gate);
    let out = g.mul(attended, opened);
    g.output("out", out);
    Fixture::new("gated attention of two sequences", g, Data::new())
}

/// All of them.
pub fn all() -> Vec<Fixture> {
    let mut all: Vec<Fixture> = keys().into_iter().map(|(name, keys)| keys.fixture(name)).collect();
    for (kind, meet, tokens) in [
        (UnaryKind::Sigmoid, Meet::Heads, 5),
        (UnaryKind::Silu, Meet::Rows, 2),
        (UnaryKind::Sigmoid, Meet::Heads, 1),
    ] {
        all.push(gated(kind, meet, tokens));
    }
    all.push(sequences());
    all
}
