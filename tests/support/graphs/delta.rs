//! A gated delta net layer in the form that importers meet: q, k and v are slices of one convolution row, the gate chain
//! and the write strength are spelled out, states come from a cache by index and go back by a copy.

use super::Fixture;
use super::import::{Import, Value};
use crate::run::{Data, bytes, int_bytes};
use crate::{Random, run};
use weft_core::graph::{DType, HeadMap, L2Form, Op, UnaryKind};

/// How q and k are normed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norms {
    /// The norm that guards the length.
    MaxEps,
    /// The norm that guards the squared length.
    SumEps,
    /// The second, spelled as a root-mean-square norm and a factor: no rule knows it.
    Spelled,
    /// None: the row holds normed values.
    Ready,
}

/// Who else writes to the cache, between the gather and the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Nobody.
    Nobody,
    /// A factor on the slots that the copy overwrites.
    Copied,
    /// A factor on a slot that the copy leaves alone.
    Elsewhere,
}

/// Where states come from and go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// An input, and an output.
    Given,
    /// A cache of this many cells. The copy goes to the cells from `head` on; `fresh` is cleared before the gather.
    Pool { cells: u64, head: u64, fresh: Option<u64>, writer: Writer },
}

/// Sizes and form of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layer {
    pub dim: u64,
    pub key_heads: u64,
    pub value_heads: u64,
    pub tokens: u64,
    pub seqs: u64,
    pub map: HeadMap,
    pub norms: Norms,
    pub snapshots: u32,
    /// Floats before the first row.
    pub base: u64,
    /// Floats between one row and the next.
    pub pad: u64,
    pub states: States,
    /// The gate of the norm behind it, if there is one.
    pub epilogue: Option<UnaryKind>,
}

/// The smallest layer that all kernels take.
pub const SMALL: Layer = Layer {
    dim: 16,
    key_heads: 2,
    value_heads: 6,
    tokens: 5,
    seqs: 1,
    map: HeadMap::Tiled,
    norms: Norms::SumEps,
    snapshots: 1,
    base: 0,
    pad: 0,
    states: States::Given,
    epilogue: Some(UnaryKind::Silu),
};

/// The layer of the failure that weft grew from: a row of 10,240 floats, 512 tokens.
pub const TRUE_SIZE: Layer =
    Layer { dim: 128, key_heads: 16, value_heads: 48, tokens: 512, map: HeadMap::Tiled, ..SMALL };

const EPS: f32 = 1e-6;

impl Layer {
    /// Floats of one row.
    pub fn width(&self) -> u64 {
        self.dim * (2 * self.key_heads + self.value_heads)
    }

    /// Floats from one row to the next.
    pub fn pitch(&self) -> u64 {
        self.width() + self.pad
    }

    /// Floats of one sequence's state.
    pub fn state(&self) -> u64 {
        self.dim * self.dim * self.value_heads
    }

    /// q, k and v of a row `[width, tokens, seqs]`.
    pub fn slices(&self, g: &mut Import, row: Value) -> [Value; 3] {
        let [_, per_token, per_sequence, _] = row.layout.strides;
        let strides = [4, self.dim * 4, per_token, per_sequence];
        let keys = self.dim * self.key_heads * 4;
        let shape = |heads| [self.dim, heads, self.tokens, self.seqs];
        let q = g.view(row, shape(self.key_heads), strides, 0);
        g.label("q");
        let k = g.view(row, shape(self.key_heads), strides, keys);
        g.label("k");
        let v = g.view(row, shape(self.value_heads), strides, 2 * keys);
        g.label("v");
        [q, k, v]
    }

    fn norm(&self, g: &mut Import, x: Value, label: &str) -> Value {
        let normed = match self.norms {
            Norms::Ready => return x,
            Norms::MaxEps => g.op(Op::L2Norm { eps: EPS, form: L2Form::MaxEps }, &[x]),
            Norms::SumEps => g.op(Op::L2Norm { eps: EPS, form: L2Form::SumEps }, &[x]),
            Norms::Spelled => {
                let width = self.dim as f32;
                let root = g.op(Op::RmsNorm { eps: EPS / width }, &[x]);
                g.scale(root, 1.0 / width.sqrt(), 0.0)
            }
        };
        g.label(label);
        normed
    }

    /// `a·softplus(alpha + dt)` as `[1, heads, tokens, seqs]`.
    pub fn gates(&self, g: &mut Import, prefix: &str) -> Value {
        let heads = self.value_heads;
        let alpha = g.input(&format!("{prefix}alpha"), DType::F32, &[heads, self.tokens * self.seqs]);
        let alpha = g.reshape(alpha, &[heads, self.tokens, self.seqs]);
        let dt = g.weight(&format!("{prefix}dt"), DType::F32, &[heads]);
        let a = g.weight(&format!("{prefix}a"), DType::F32, &[heads]);
        let shifted = g.add(alpha, dt);
        g.label("shifted");
        let soft = g.unary(UnaryKind::Softplus, shifted);
        g.label("soft");
        let decay = g.mul(soft, a);
        g.label("decay");
        let gate = g.reshape(decay, &[1, heads, self.tokens, self.seqs]);
        g.label("gate_reshape");
        gate
    }

    /// The sigmoid of the write strength as `[1, heads, tokens, seqs]`.
    pub fn strength(&self, g: &mut Import, prefix: &str) -> Value {
        let raw = g.input(&format!("{prefix}beta"), DType::F32, &[self.value_heads, self.tokens, self.seqs]);
        let beta = g.unary(UnaryKind::Sigmoid, raw);
        g.label("beta");
        g.reshape(beta, &[1, self.value_heads, self.tokens, self.seqs])
    }

    /// Everything from the row `[width, tokens, seqs]` to the gated norm. Gives the last value.
    pub fn build(&self, g: &mut Import, prefix: &str, row: Value) -> Value {
        let gate = self.gates(g, prefix);
        self.build_with(g, prefix, row, gate)
    }

    /// As [`Layer::build`], with the decay from elsewhere.
    pub fn build_with(&self, g: &mut Import, prefix: &str, row: Value, gate: Value) -> Value {
        let [q, k, v] = self.slices(g, row);
        let beta = self.strength(g, prefix);
        let (q, k) = (self.norm(g, q, "q_norm"), self.norm(g, k, "k_norm"));
        let state = self.gather(g, prefix);
        let net = Op::GatedDeltaNet { snapshots: self.snapshots, heads: self.map };
        let flat = g.op(net, &[q, k, v, gate, beta, state]);
        g.label("net");
        let rows = self.tokens * self.seqs;
        let (dim, heads) = (self.dim, self.value_heads);
        let shape = [dim, heads, self.tokens, self.seqs];
        let strides = [4, dim * 4, dim * heads * 4, dim * heads * self.tokens * 4];
        let attention = g.view(flat, shape, strides, 0);
        g.label("attention");
        let step = self.state() * 4;
        let states = g.view(flat, [step / 4, self.seqs, 1, 1], [4, step, step, step], dim * heads * rows * 4);
        g.label("states");
        self.keep(g, prefix, flat, states);
        match self.epilogue {
            None => attention,
            Some(kind) => self.epilogue(g, prefix, attention, kind),
        }
    }

    fn epilogue(&self, g: &mut Import, prefix: &str, attention: Value, kind: UnaryKind) -> Value {
        let rows = self.tokens * self.seqs;
        let weight = g.weight(&format!("{prefix}norm"), DType::F32, &[self.dim]);
        let z = g.input(&format!("{prefix}z"), DType::F32, &[self.dim * self.value_heads, rows]);
        let normed = g.op(Op::RmsNorm { eps: EPS }, &[attention]);
        g.label("norm");
        let weighted = g.mul(normed, weight);
        g.label("weighted");
        let z = g.reshape(z, &[self.dim, self.value_heads, self.tokens, self.seqs]);
        let opened = g.unary(kind, z);
        g.label("opened");
        let gated = g.mul(weighted, opened);
        g.label("gated");
        g.reshape(gated, &[self.dim * self.value_heads, rows])
    }

    fn gather(&self, g: &mut Import, prefix: &str) -> Value {
        let shape = [self.dim, self.dim, self.value_heads, self.seqs];
        let States::Pool { cells, fresh, .. } = self.states else {
            return g.input(&format!("{prefix}state"), DType::F32, &shape);
        };
        let cache = g.state(&format!("{prefix}cache"), DType::F32, &[self.state(), cells]);
        if let Some(slot) = fresh {
            let row = g.slice(cache, 1, slot, 1);
            g.in_place(Op::Scale { scale: 0.0, bias: 0.0 }, &[row]);
            g.label("clear");
        }
        let rows = g.input(&format!("{prefix}rows"), DType::I32, &[self.seqs]);
        let gathered = g.op(Op::GetRows, &[cache, rows]);
        g.label("gather");
        g.reshape(gathered, &shape)
    }

    fn keep(&self, g: &mut Import, prefix: &str, flat: Value, states: Value) {
        let States::Pool { cells, head, writer, .. } = self.states else {
            let all = self.state() * self.seqs * u64::from(self.snapshots);
            let start = self.dim * self.value_heads * self.tokens * self.seqs * 4;
            let planes = g.view(flat, [all, 1, 1, 1], [4, all * 4, all * 4, all * 4], start);
            // With fewer tokens than snapshots the rest is not written.
            let told = self.state() * self.seqs * u64::from(self.snapshots).min(self.tokens);
            let planes = g.slice(planes, 0, 0, told);
            g.output(&format!("{prefix}states"), planes);
            return;
        };
        let name = format!("{prefix}cache");
        let at = g.graph().storage_named(&name).expect("the cache");
        let bytes = self.state() * 4;
        let layout = weft_core::graph::Layout {
            dtype: DType::F32,
            shape: [self.state(), cells, 1, 1],
            strides: [4, bytes, bytes * cells, bytes * cells],
            offset: 0,
        };
        let cache = Value { storage: at, layout };
        let slots = g.slice(cache, 1, head, self.seqs);
        let free = (0..cells).find(|cell| !(head..head + self.seqs).contains(cell));
        let written = match writer {
            Writer::Nobody => None,
            Writer::Copied => Some(slots),
            Writer::Elsewhere => Some(g.slice(cache, 1, free.expect("a free cell"), 1)),
        };
        if let Some(place) = written {
            g.in_place(Op::Scale { scale: 0.5, bias: 0.0 }, &[place]);
            g.label("writer");
        }
        g.op(Op::Copy, &[states, slots]);
        g.label("copy");
    }

    /// What cannot be random: decays that decay, a permuted gather, NaN wherever nobody may look.
    pub fn data(&self, prefix: &str) -> Data {
        let mut random = Random::named("delta", self.width());
        let mut data = Data::new();
        let decays: Vec<f32> = (0..self.value_heads).map(|_| -0.25 - random.unit().abs()).collect();
        data.insert(format!("{prefix}a"), bytes(&decays));
        if let States::Pool { cells, head, fresh, .. } = self.states {
            // Sequence s reads the cell of its right neighbour, so that a copy would overwrite what another still needs.
            let rows: Vec<i32> = (0..self.seqs).map(|s| (head + (s + 1) % self.seqs) as i32).collect();
            data.insert(format!("{prefix}rows"), int_bytes(&rows));
            let mut cache: Vec<f32> = (0..cells * self.state()).map(|_| random.unit()).collect();
            if let Some(slot) = fresh {
                let start = (slot * self.state()) as usize;
                cache[start..start + self.state() as usize].fill(f32::NAN);
            }
            for cell in (0..cells).filter(|c| !rows.contains(&(*c as i32))) {
                let start = (cell * self.state()) as usize;
                cache[start..start + self.state() as usize].fill(f32::NAN);
            }
            data.insert(format!("{prefix}cache"), bytes(&cache));
        }
        data
    }

    /// The row as a view of an input whose gaps are NaN.
    pub fn row(&self, g: &mut Import, data: &mut Data) -> Value {
        let rows = self.tokens * self.seqs;
        let total = self.base + rows * self.pitch();
        let flat = g.input("row", DType::F32, &[total]);
        let mut values = vec![f32::NAN; total as usize];
        let mut random = Random::named("row", total);
        for row in 0..rows {
            let start = (self.base + row * self.pitch()) as usize;
            values[start..start + self.width() as usize].fill_with(|| random.unit());
        }
        data.insert("row".to_owned(), run::bytes(&values));
        let pitch = self.pitch() * 4;
        let strides = [4, pitch, pitch * self.tokens, pitch * rows];
        g.view(flat, [self.width(), self.tokens, self.seqs, 1], strides, self.base * 4)
    }

    /// The layer alone.
    pub fn fixture(&self, name: impl Into<String>) -> Fixture {
        let mut g = Import::default();
        let mut data = self.data("");
        let row = self.row(&mut g, &mut data);
        let out = self.build(&mut g, "", row);
        g.output("out", out);
        Fixture::new(name, g, data)
    }

    /// The layer for planning only: no data.
    pub fn graph(&self) -> Fixture {
        let mut g = Import::default();
        let rows = self.tokens * self.seqs;
        let flat = g.input("row", DType::F32, &[self.base + rows * self.pitch()]);
        let pitch = self.pitch() * 4;
        let strides = [4, pitch, pitch * self.tokens, pitch * rows];
        let row = g.view(flat, [self.width(), self.tokens, self.seqs, 1], strides, self.base * 4);
        let out = self.build(&mut g, "", row);
        g.output("out", out);
        Fixture::new(format!("{self:?}"), g, Data::new())
    }
}

/// A pool of exactly the cells of the sequences, so that the copy takes it whole.
pub const fn whole_pool(seqs: u64) -> States {
    States::Pool { cells: seqs, head: 0, fresh: None, writer: Writer::Nobody }
}

/// The layer and its variants: token counts at the edges of kernels, sequences, heads, norms, snapshots, base and pitch.
pub fn variants(of: Layer) -> Vec<(String, Layer)> {
    let mut all = vec![("as it stands".to_owned(), of)];
    let mut push = |name: String, layer: Layer| all.push((name, layer));
    for tokens in [1, 2, 7, 64, 65, 511, 513] {
        push(format!("T {tokens}"), Layer { tokens, ..of });
    }
    for seqs in 2..=4 {
        push(format!("S {seqs}"), Layer { seqs, tokens: 3, ..of });
    }
    for ratio in 1..=3 {
        for map in [HeadMap::Tiled, HeadMap::Grouped] {
            push(format!("ratio {ratio} {map:?}"), Layer { value_heads: of.key_heads * ratio, map, ..of });
        }
    }
    for norms in [Norms::MaxEps, Norms::SumEps, Norms::Spelled, Norms::Ready] {
        push(format!("{norms:?}"), Layer { norms, ..of });
    }
    for snapshots in [1, 4] {
        for seqs in [1, 2] {
            push(format!("K {snapshots} S {seqs}"), Layer { snapshots, seqs, tokens: 6, ..of });
        }
    }
    push("K 4 with T 2".to_owned(), Layer { snapshots: 4, tokens: 2, ..of });
    push("base".to_owned(), Layer { base: 24, ..of });
    push("padded".to_owned(), Layer { pad: 8, ..of });
    push("base and padded, S 3".to_owned(), Layer { base: 4, pad: 4, seqs: 3, tokens: 4, ..of });
    push("no epilogue".to_owned(), Layer { epilogue: None, ..of });
    push("sigmoid epilogue".to_owned(), Layer { epilogue: Some(UnaryKind::Sigmoid), ..of });
    for seqs in [1, 3] {
        push(format!("whole pool, S {seqs}"), Layer { seqs, states: whole_pool(seqs), ..of });
        let part = States::Pool { cells: seqs + 2, head: 1, fresh: None, writer: Writer::Nobody };
        push(format!("part of a pool, S {seqs}"), Layer { seqs, states: part, ..of });
    }
    push("K 4, whole pool".to_owned(), Layer { snapshots: 4, seqs: 2, states: whole_pool(2), ..of });
    all
}
