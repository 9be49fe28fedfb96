//! Sparse attention by a mask, as importers meet it: a selection of blocks becomes a selection of cells, the selection
//! becomes a half-precision mask by fill and scatter of rows of length one, and attention runs over all cells with it.
//! Behind it, in the same graph, a gated delta net layer.

use super::Fixture;
use super::delta::{self, Layer};
use super::import::{Import, Value};
use super::small::rope;
use crate::run::{Data, bytes, int_bytes};
use weft_core::graph::{DType, Op, Rope, RopeKind, UnaryKind};

/// Sizes of an attention layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention {
    pub embedding: u64,
    pub tokens: u64,
    pub cells: u64,
    /// Cells that each token selects; all of them without selection.
    pub width: Option<u64>,
    pub heads: u64,
    pub kv_heads: u64,
    pub head: u64,
    pub index_heads: u64,
    pub index_head: u64,
    /// Whether the mask and what is made of it are in half precision.
    pub half: bool,
    /// Whether the cast of the mask names its own result as its target.
    pub into_self: bool,
    /// Whether the first token may see nothing.
    pub blind: bool,
}

/// A small layer over 32 cells of which each token selects eleven.
pub const SMALL: Attention = Attention {
    embedding: 32,
    tokens: 5,
    cells: 32,
    width: Some(11),
    heads: 4,
    kv_heads: 2,
    head: 16,
    index_heads: 4,
    index_head: 16,
    half: true,
    into_self: true,
    blind: false,
};

/// The true layer over this many cells: each token selects 2051 of them, or all.
pub fn true_size(cells: u64) -> Attention {
    Attention {
        embedding: 2048,
        tokens: 512,
        cells,
        width: Some(cells.min(2051)),
        heads: 16,
        kv_heads: 2,
        head: 256,
        index_heads: 4,
        index_head: 128,
        half: true,
        into_self: true,
        blind: false,
    }
}

const EPS: f32 = 1e-6;

fn sections(dims: u32) -> Op {
    let Op::Rope(plain) = rope(dims) else { unreachable!("a rotary embedding") };
    let pairs = dims / 2;
    let third = pairs / 3;
    Op::Rope(Rope { kind: RopeKind::MultiSection, sections: [pairs - 2 * third, third, third, 0], ..plain })
}

impl Attention {
    fn blocks(&self) -> u64 {
        self.cells.div_ceil(4)
    }

    fn project(g: &mut Import, x: Value, name: &str, rows: u64) -> Value {
        let weight = g.weight(name, DType::F32, &[x.shape()[0], rows]);
        g.op(Op::MulMat, &[weight, x])
    }

    fn normed(g: &mut Import, x: Value, name: &str) -> Value {
        let weight = g.weight(name, DType::F32, &[x.shape()[0]]);
        let normed = g.op(Op::RmsNorm { eps: EPS }, &[x]);
        g.mul(normed, weight)
    }

    /// Keys of blocks: the mean of four cells' index keys, normed and rotated. `[index_head, blocks]`
    fn pooled(&self, g: &mut Import, x: Value, places: Value) -> Value {
        let (width, blocks) = (self.index_head, self.blocks());
        let raw = Self::project(g, x, "index.k", width);
        let cache = g.state("index.cache", DType::F16, &[width, self.cells]);
        g.op(Op::SetRows, &[cache, raw, places]);
        let cells = g.input("block_cells", DType::I32, &[4 * blocks]);
        let gathered = g.op(Op::GetRows, &[cache, cells]);
        g.label("block_cells");
        let by_block = g.reshape(gathered, &[width, 4, blocks]);
        let parts: Vec<Value> = (0..4)
            .map(|i| {
                let part = g.slice(by_block, 1, i, 1);
                g.packed_copy(part)
            })
            .collect();
        let sum = parts[1..].iter().fold(parts[0], |sum, part| g.add(sum, *part));
        let mean = g.scale(sum, 0.25, 0.0);
        let normed = Self::normed(g, mean, "index.k_norm");
        let positions = g.input("block_positions", DType::I32, &[4 * blocks]);
        let turned = g.op(sections(width as u32), &[normed, positions]);
        g.reshape(turned, &[width, blocks])
    }

    /// The score of each cell for each token. `[cells, tokens]`
    fn scores(&self, g: &mut Import, x: Value, pooled: Value) -> Value {
        let (width, heads, blocks, tokens) = (self.index_head, self.index_heads, self.blocks(), self.tokens);
        let q = Self::project(g, x, "index.q", width * heads);
        let q = g.reshape(q, &[width, heads, tokens]);
        let q = Self::normed(g, q, "index.q_norm");
        let positions = g.input("positions", DType::I32, &[4 * tokens]);
        let q = g.op(sections(width as u32), &[q, positions]);
        let q = g.reshape(q, &[width, heads * tokens]);
        let raw = g.op(Op::MulMat, &[pooled, q]);
        let raw = g.unary(UnaryKind::Relu, raw);
        let by_head = g.reshape(raw, &[blocks, heads, tokens]);
        let parts: Vec<Value> = (0..heads).map(|h| g.slice(by_head, 1, h, 1)).collect();
        let sum = parts[1..].iter().fold(parts[0], |sum, part| g.add(sum, *part));
        let sum = g.reshape(sum, &[blocks, tokens]);
        let bias = g.input("block_bias", DType::F32, &[blocks, tokens]);
        let biased = g.add(sum, bias);
        g.label("biased");
        let turned = g.permute(biased, [1, 0, 2, 3]);
        let turned = g.packed_copy(turned);
        let owners = g.input("cell_blocks", DType::I32, &[self.cells]);
        let by_cell = g.op(Op::GetRows, &[turned, owners]);
        g.label("cell_blocks");
        let back = g.permute(by_cell, [1, 0, 2, 3]);
        g.packed_copy(back)
    }

    /// The mask of the selected cells. `[cells, tokens]`, half precision
    fn selected(&self, g: &mut Import, scores: Value, mask: Value, width: u64) -> Value {
        let (cells, tokens) = (self.cells, self.tokens);
        let wide = if !self.half {
            mask
        } else if self.into_self {
            g.cast_into_self(mask, DType::F32)
        } else {
            g.op(Op::Cast { to: DType::F32 }, &[mask])
        };
        g.label("cast");
        let visible = g.add(scores, wide);
        g.label("visible");
        let best = g.op(Op::TopK { k: width as u32 }, &[visible]);
        g.label("top_k");
        let best = g.packed_copy(best);
        let closed = g.op(Op::Fill { value: f32::NEG_INFINITY }, &[mask]);
        g.label("closed");
        let rows = g.reshape(closed, &[1, cells, tokens]);
        let like = g.view(wide, [1, width, tokens, 1], [4, 4, 4 * cells, 4 * cells * tokens], 0);
        let zeros = g.op(Op::Fill { value: 0.0 }, &[like]);
        g.op(Op::SetRows, &[rows, zeros, best]);
        g.label("scatter");
        let opened = g.reshape(rows, &[cells, tokens]);
        let chosen = g.add(opened, mask);
        g.label("chosen");
        chosen
    }

    /// Attention of `[embedding, tokens]`. Gives `[head·heads, tokens]`.
    pub fn build(&self, g: &mut Import, x: Value) -> Value {
        let Attention { tokens, cells, heads, kv_heads, head, .. } = *self;
        let places = g.input("places", DType::I64, &[tokens]);
        let dtype = if self.half { DType::F16 } else { DType::F32 };
        let mask = g.input("mask", dtype, &[cells, tokens]);
        let mask = match self.width {
            None => mask,
            Some(width) => {
                let pooled = self.pooled(g, x, places);
                let scores = self.scores(g, x, pooled);
                self.selected(g, scores, mask, width)
            }
        };
        let q = Self::project(g, x, "q", head * heads);
        let q = g.reshape(q, &[head, heads, tokens]);
        let q = g.permute(q, [0, 2, 1, 3]);
        let mut cached = |name: &str| {
            let value = Self::project(g, x, name, head * kv_heads);
            let cache = g.state(&format!("cache.{name}"), DType::F16, &[head * kv_heads, cells]);
            g.op(Op::SetRows, &[cache, value, places]);
            let by_head = g.reshape(cache, &[head, kv_heads, cells]);
            g.permute(by_head, [0, 2, 1, 3])
        };
        let (k, v) = (cached("k"), cached("v"));
        let scale = 1.0 / (head as f32).sqrt();
        let attended = g.op(Op::FlashAttention { scale }, &[q, k, v, mask]);
        g.label("attention");
        g.reshape(attended, &[head * heads, tokens])
    }

    /// Masks, biases and indices of tokens that stand at the end of a filled cache.
    pub fn data(&self) -> Data {
        let (tokens, cells, blocks) = (self.tokens, self.cells, self.blocks());
        let first = cells - tokens;
        let place = |t: u64| first + t;
        let mut data = Data::new();
        let places: Vec<u8> = (0..tokens).flat_map(|t| (place(t) as i64).to_le_bytes()).collect();
        data.insert("places".to_owned(), places);
        let seen = |t: u64, c: u64| c <= place(t) && !(self.blind && t == 0);
        let values = (0..tokens).flat_map(|t| (0..cells).map(move |c| (t, c)));
        let values = values.map(|(t, c)| if seen(t, c) { 0.0 } else { f32::NEG_INFINITY });
        let mask = match self.half {
            true => values.flat_map(|value| half::f16::from_f32(value).to_le_bytes()).collect(),
            false => values.flat_map(f32::to_le_bytes).collect(),
        };
        data.insert("mask".to_owned(), mask);
        if self.width.is_none() {
            return data;
        }
        let ints = |count: u64, f: &dyn Fn(u64) -> u64| {
            int_bytes(&(0..count).map(|i| f(i) as i32).collect::<Vec<_>>())
        };
        data.insert("block_cells".to_owned(), ints(4 * blocks, &|i| i.min(cells - 1)));
        let axis = |i: u64, count: u64| if i < 3 * count { i % count } else { 0 };
        data.insert("block_positions".to_owned(), ints(4 * blocks, &|i| 4 * axis(i, blocks)));
        data.insert("cell_blocks".to_owned(), ints(cells, &|c| c / 4));
        data.insert(
            "positions".to_owned(),
            ints(4 * tokens, &|i| if i < 3 * tokens { place(i % tokens) } else { 0 }),
        );
        let mut bias = Vec::new();
        for t in 0..tokens {
            let tail = (place(t) + 1) / 4;
            bias.extend((0..blocks).map(|b| match b.cmp(&tail) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 1e9,
                std::cmp::Ordering::Greater => f32::NEG_INFINITY,
            }));
        }
        data.insert("block_bias".to_owned(), bytes(&bias));
        data
    }

    /// This layer, then a delta net layer on its result, in one graph.
    pub fn then(&self, layer: Layer, name: impl Into<String>) -> Fixture {
        let layer = Layer { tokens: self.tokens, seqs: 1, ..layer };
        let mut g = Import::default();
        let x = g.input("hidden", DType::F32, &[self.embedding, self.tokens]);
        let attended = self.build(&mut g, x);
        let row = Self::project(&mut g, attended, "row", layer.width());
        g.label("row");
        let row = g.reshape(row, &[layer.width(), self.tokens, 1]);
        let out = layer.build(&mut g, "", row);
        g.output("out", out);
        let mut data = layer.data("");
        if self.cells <= 4096 {
            data.extend(self.data());
        }
        Fixture::new(name, g, data)
    }
}

/// Numeric sizes: selection and none, the cast into itself and the plain one, a token that sees nothing.
pub fn all() -> Vec<Fixture> {
    let layer = Layer { states: delta::whole_pool(1), ..delta::SMALL };
    let dense = Attention { width: None, ..SMALL };
    let all = Attention { width: Some(SMALL.cells), ..SMALL };
    let plain = Attention { into_self: false, ..SMALL };
    let wide = Attention { half: false, ..SMALL };
    let one = Attention { tokens: 1, ..SMALL };
    let blind = Attention { blind: true, ..SMALL };
    vec![
        dense.then(layer, "dense attention, then a delta net"),
        all.then(layer, "selection of all cells, then a delta net"),
        SMALL.then(layer, "selection by mask, then a delta net"),
        plain.then(layer, "selection with a plain cast, then a delta net"),
        wide.then(layer, "selection by a mask in single precision, then a delta net"),
        one.then(layer, "selection for one token, then a delta net"),
        blind.then(layer, "selection with a blind token, then a delta net"),
    ]
}
