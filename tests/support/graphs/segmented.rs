//! A gated delta net layer as weft's own models build it: segments, a convolution with its history in a pool, states in a
//! pool, both written in place.

use super::Fixture;
use super::delta::Norms;
use super::import::{Import, Value};
use crate::run::{Data, bytes, int_bytes};
use crate::{Random, run};
use weft_core::graph::{DType, HeadMap, L2Form, Op, UnaryKind};
use weft_core::segment::Segment;

/// Sizes of a layer, and the segments of its ubatch.
#[derive(Clone, Debug, PartialEq)]
pub struct Segmented {
    pub dim: u64,
    pub key_heads: u64,
    pub value_heads: u64,
    pub tokens: u64,
    pub taps: u64,
    pub slots: u64,
    pub snapshots: u32,
    pub map: HeadMap,
    pub norms: Norms,
    pub act: UnaryKind,
    /// Floats between one row of the projection and the next.
    pub pad: u64,
    pub segments: Vec<Segment>,
    /// Rows of the projection, counted from the last, that hold NaN.
    pub poisoned: u64,
}

/// A segment.
pub fn segment(slot: u32, row: u32, count: u32, position: u32) -> Segment {
    Segment { slot, row, count, position, fresh: position == 0, plane: 0 }
}

/// One sequence in the middle of its life.
pub fn one(tokens: u64) -> Segmented {
    Segmented {
        dim: 16,
        key_heads: 2,
        value_heads: 6,
        tokens,
        taps: 4,
        slots: 3,
        snapshots: 1,
        map: HeadMap::Tiled,
        norms: Norms::SumEps,
        act: UnaryKind::Silu,
        pad: 0,
        segments: vec![segment(1, 0, tokens as u32, 9)],
        poisoned: 0,
    }
}

/// The layer of the failure that weft grew from, as weft builds it.
pub fn true_size() -> Segmented {
    Segmented {
        dim: 128,
        key_heads: 16,
        value_heads: 48,
        slots: 1,
        segments: vec![segment(0, 0, 512, 0)],
        ..one(512)
    }
}

impl Segmented {
    /// Floats of one row of the projection.
    pub fn channels(&self) -> u64 {
        self.dim * (2 * self.key_heads + self.value_heads)
    }

    /// Appends the layer behind a projection `[channels, tokens]`. Gives the gated norm's value.
    pub fn build(&self, g: &mut Import, prefix: &str, x: Value) -> Value {
        let (dim, keys, heads, tokens) = (self.dim, self.key_heads, self.value_heads, self.tokens);
        let channels = self.channels();
        let name = |what: &str| format!("{prefix}{what}");
        let segments = g.input(&name("segments"), DType::I32, &[8, self.segments.len() as u64]);
        let history = g.state(&name("history"), DType::F32, &[self.taps - 1, channels, self.slots]);
        let weight = g.weight(&name("conv"), DType::F32, &[self.taps, channels]);
        let conv = Op::SsmConv { dilation: 1 };
        let mixed = g.apply(conv, &[Some(x), Some(weight), Some(history), Some(segments)])[0];
        g.label("conv");
        g.op(Op::ConvHistory, &[x, history, segments]);
        g.label("keep");
        let mixed = g.unary(UnaryKind::Silu, mixed);
        g.label("silu");
        let strides = [4, dim * 4, channels * 4, channels * 4 * tokens];
        let slice = |g: &mut Import, heads, at| g.view(mixed, [dim, heads, tokens, 1], strides, at);
        let (q, k) = (slice(g, keys, 0), slice(g, keys, keys * dim * 4));
        let v = slice(g, heads, 2 * keys * dim * 4);
        let form = if self.norms == Norms::MaxEps { L2Form::MaxEps } else { L2Form::SumEps };
        let unit = Op::L2Norm { eps: 1e-6, form };
        let q = g.op(unit, &[q]);
        g.label("q_norm");
        let k = g.op(unit, &[k]);
        g.label("k_norm");
        let [alpha, beta, z] = ["alpha", "beta", "z"].map(|what| {
            let width = if what == "z" { dim * heads } else { heads };
            g.input(&name(what), DType::F32, &[width, tokens])
        });
        let [dt, a] = ["dt", "a"].map(|what| g.weight(&name(what), DType::F32, &[heads]));
        let shifted = g.add(alpha, dt);
        g.label("shifted");
        let soft = g.unary(UnaryKind::Softplus, shifted);
        g.label("soft");
        let decay = g.mul(soft, a);
        g.label("decay");
        let gate = g.reshape(decay, &[1, heads, tokens]);
        let beta = g.unary(UnaryKind::Sigmoid, beta);
        g.label("beta");
        let beta = g.reshape(beta, &[1, heads, tokens]);
        let planes = self.slots * u64::from(self.snapshots);
        let state = g.state(&name("state"), DType::F32, &[dim, dim, heads, planes]);
        let net = Op::GatedDeltaNet { snapshots: self.snapshots, heads: self.map };
        let out = g.apply(net, &[q, k, v, gate, beta, state, segments].map(Some))[0];
        g.label("net");
        let weight = g.weight(&name("norm"), DType::F32, &[dim]);
        let normed = g.op(Op::RmsNorm { eps: 1e-6 }, &[out]);
        g.label("norm");
        let weighted = g.mul(normed, weight);
        g.label("weighted");
        let z = g.reshape(z, &[dim, heads, tokens]);
        let opened = g.unary(self.act, z);
        g.label("opened");
        let gated = g.mul(weighted, opened);
        g.label("gated");
        g.reshape(gated, &[dim * heads, tokens])
    }

    /// The segment table, decays that decay, and NaN wherever nobody may look: in the slots of fresh and of absent
    /// sequences.
    pub fn data(&self, prefix: &str) -> Data {
        let mut random = Random::named("segmented", self.channels());
        let mut data = Data::new();
        let words: Vec<i32> = self.segments.iter().flat_map(Segment::words).collect();
        data.insert(format!("{prefix}segments"), int_bytes(&words));
        let decays: Vec<f32> = (0..self.value_heads).map(|_| -0.25 - random.unit().abs()).collect();
        data.insert(format!("{prefix}a"), bytes(&decays));
        let held = |slot: u64| self.segments.iter().any(|s| u64::from(s.slot) == slot && !s.fresh);
        let mut pool = |per_slot: u64| -> Vec<f32> {
            let mut all = Vec::new();
            for slot in 0..self.slots {
                all.extend((0..per_slot).map(|_| if held(slot) { random.unit() } else { f32::NAN }));
            }
            all
        };
        let history = pool((self.taps - 1) * self.channels());
        let state = pool(self.dim * self.dim * self.value_heads * u64::from(self.snapshots));
        data.insert(format!("{prefix}history"), bytes(&history));
        data.insert(format!("{prefix}state"), bytes(&state));
        data
    }

    /// The projection as a view of an input whose gaps are NaN.
    fn projection(&self, g: &mut Import, data: &mut Data) -> Value {
        let (channels, pitch) = (self.channels(), self.channels() + self.pad);
        let flat = g.input("x", DType::F32, &[pitch * self.tokens]);
        let mut values = vec![f32::NAN; (pitch * self.tokens) as usize];
        let mut random = Random::named("projection", pitch);
        for row in 0..self.tokens - self.poisoned {
            let start = (row * pitch) as usize;
            values[start..start + channels as usize].fill_with(|| random.unit());
        }
        data.insert("x".to_owned(), run::bytes(&values));
        g.view(
            flat,
            [channels, self.tokens, 1, 1],
            [4, pitch * 4, pitch * 4 * self.tokens, pitch * 4 * self.tokens],
            0,
        )
    }

    /// The layer for planning only: no data.
    pub fn graph(&self, name: impl Into<String>) -> Fixture {
        let mut g = Import::default();
        let x = g.input("x", DType::F32, &[self.channels(), self.tokens]);
        let out = self.build(&mut g, "", x);
        g.output("out", out);
        Fixture::new(name, g, Data::new())
    }

    /// The layer alone.
    pub fn fixture(&self, name: impl Into<String>) -> Fixture {
        let mut g = Import::default();
        let mut data = self.data("");
        let x = self.projection(&mut g, &mut data);
        let out = self.build(&mut g, "", x);
        g.output("out", out);
        Fixture::new(name, g, data)
    }
}

/// The layer and its variants.
pub fn variants() -> Vec<(String, Segmented)> {
    let mut all = Vec::new();
    for tokens in [1, 2, 3, 7, 64, 65] {
        all.push((format!("segmented T {tokens}"), one(tokens)));
    }
    let of = one(9);
    let mut push = |name: &str, layer: Segmented| all.push((format!("segmented {name}"), layer));
    push("fresh", Segmented { segments: vec![segment(2, 0, 9, 0)], ..of.clone() });
    let three = vec![segment(2, 0, 1, 5), segment(0, 1, 6, 0), segment(1, 7, 2, 31)];
    push("unequal", Segmented { segments: three.clone(), ..of.clone() });
    let unused = vec![segment(2, 0, 9, 5), segment(0, 0, 0, 0)];
    push("with an unused entry", Segmented { segments: unused, ..of.clone() });
    push("K 4", Segmented { snapshots: 4, segments: three, ..of.clone() });
    let plane = Segment { plane: 2, ..segment(1, 0, 9, 12) };
    push("from a snapshot", Segmented { snapshots: 4, segments: vec![plane], ..of.clone() });
    push("padded", Segmented { pad: 12, ..of.clone() });
    push("grouped", Segmented { map: HeadMap::Grouped, ..of.clone() });
    push("the older norm", Segmented { norms: Norms::MaxEps, ..of.clone() });
    push("sigmoid", Segmented { act: UnaryKind::Sigmoid, ..of.clone() });
    push("two taps", Segmented { taps: 2, ..of });
    all
}
