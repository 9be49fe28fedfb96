//! The smallest graphs on which each rule fires.

use super::Fixture;
use super::cached;
use super::delta::{self, Layer};
use super::import::{Import, Value};
use super::segmented;
use crate::run::{Data, int_bytes};
use weft_core::graph::{BinaryKind, DType, Op, Rope, RopeKind, UnaryKind};

/// Square where it can be, so that a turned view keeps its shape.
const SIDE: u64 = 16;

fn input(g: &mut Import, name: &str, shape: &[u64]) -> Value {
    g.input(name, DType::F32, shape)
}

/// `sum = a + b; rms_norm(sum)·weight`, both wanted.
pub fn add_rms_norm() -> Fixture {
    let mut g = Import::default();
    let (a, b) = (input(&mut g, "a", &[SIDE, SIDE]), input(&mut g, "b", &[SIDE, SIDE]));
    let weight = g.weight("weight", DType::F32, &[SIDE]);
    let sum = g.add(a, b);
    g.label("sum");
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
    g.label("norm");
    let out = g.mul(norm, weight);
    g.label("weighted");
    g.output("sum", sum);
    g.output("out", out);
    Fixture::new("add_rms_norm", g, Data::new())
}

/// `rms_norm(x)·weight`.
pub fn rms_norm_weight() -> Fixture {
    let mut g = Import::default();
    let x = input(&mut g, "x", &[SIDE, SIDE]);
    let weight = g.weight("weight", DType::F32, &[SIDE]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    g.label("norm");
    let out = g.mul(norm, weight);
    g.label("weighted");
    g.output("out", out);
    Fixture::new("rms_norm_weight", g, Data::new())
}

/// `rms_norm(x)·weight·silu(gate)`.
pub fn gated_norm() -> Fixture {
    let mut g = Import::default();
    let (x, z) = (input(&mut g, "x", &[SIDE, SIDE, 3]), input(&mut g, "z", &[SIDE, SIDE, 3]));
    let weight = g.weight("weight", DType::F32, &[SIDE]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    g.label("norm");
    let weighted = g.mul(norm, weight);
    g.label("weighted");
    let opened = g.unary(UnaryKind::Silu, z);
    g.label("opened");
    let out = g.mul(weighted, opened);
    g.label("gated");
    g.output("out", out);
    Fixture::new("gated_norm", g, Data::new())
}

/// A rotary embedding of a whole head in pairs.
pub fn rope(dims: u32) -> Op {
    Op::Rope(Rope {
        kind: RopeKind::Neox,
        dims,
        base: 10_000.0,
        scale: 1.0,
        sections: [0; 4],
        yarn_mix: 0.0,
        yarn_context: 0,
        magnitude: 1.0,
    })
}

/// `rope(rms_norm(x)·weight)` per head, with divisors.
pub fn norm_rope() -> Fixture {
    let mut g = Import::default();
    let (heads, tokens) = (4, 4);
    let x = input(&mut g, "x", &[SIDE, heads, tokens]);
    let weight = g.weight("weight", DType::F32, &[SIDE]);
    let positions = g.input("positions", DType::I32, &[tokens]);
    let divisors = g.weight("divisors", DType::F32, &[SIDE / 2]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    g.label("norm");
    let weighted = g.mul(norm, weight);
    g.label("weighted");
    let out = g.op(rope(SIDE as u32), &[weighted, positions, divisors]);
    g.label("rope");
    g.output("out", out);
    let mut data = Data::new();
    data.insert("positions".to_owned(), int_bytes(&[3, 4, 5, 900]));
    let far: Vec<f32> = (1..=SIDE / 2).map(|i| i as f32).collect();
    data.insert("divisors".to_owned(), crate::run::bytes(&far));
    Fixture::new("norm_rope", g, data)
}

/// As many blocks as a block has members, and means as there are blocks, so that a turned view keeps its shape.
const BLOCK: u64 = 4;

/// Means of a cache's rows, normed and turned, as rows of another. The first mean is dropped.
pub fn pool_rows() -> Fixture {
    let mut g = Import::default();
    let table = g.state("raw", DType::F32, &[SIDE, 4 * BLOCK]);
    let cells = g.input("cells", DType::I32, &[BLOCK * BLOCK]);
    let weight = g.weight("weight", DType::F32, &[SIDE]);
    let positions = g.input("positions", DType::I32, &[BLOCK]);
    let members = g.op(Op::GetRows, &[table, cells]);
    g.label("members");
    let members = g.reshape(members, &[SIDE, BLOCK, BLOCK]);
    let across = g.permute(members, [1, 0, 2, 3]);
    let sum = g.op(Op::SumRows, &[across]);
    g.label("sum");
    let sum = g.reshape(sum, &[SIDE, 1, BLOCK]);
    let mean = g.scale(sum, 1.0 / BLOCK as f32, 0.0);
    g.label("mean");
    // So much that the factor of the sums shows in the result.
    let norm = g.op(Op::RmsNorm { eps: 0.1 }, &[mean]);
    g.label("norm");
    let weighted = g.mul(norm, weight);
    g.label("weighted");
    let divisors = g.weight("divisors", DType::F32, &[SIDE / 2]);
    let turned = g.op(rope(SIDE as u32), &[weighted, positions, divisors]);
    g.label("rope");
    let flat = g.reshape(turned, &[SIDE, BLOCK]);
    let pool = g.state("pooled", DType::F32, &[SIDE, 6]);
    let rows = g.input("rows", DType::I32, &[BLOCK]);
    g.op(Op::SetRows, &[pool, flat, rows]);
    g.label("store");
    let members: Vec<i32> = (0..(BLOCK * BLOCK) as i32).map(|i| i * 5 % 16).collect();
    let data = [
        ("cells".to_owned(), int_bytes(&members)),
        ("divisors".to_owned(), crate::run::bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])),
        ("positions".to_owned(), int_bytes(&[0, 4, 8, 900])),
        ("rows".to_owned(), int_bytes(&[-1, 5, 0, 3])),
    ];
    Fixture::new("pool_rows", g, Data::from(data))
}

/// A layer's output added to `CHOSEN` streams of as many tokens, and the norm of each stream by a scaled weight.
pub fn combine_norm() -> Fixture {
    let mut g = Import::default();
    let streams = input(&mut g, "streams", &[SIDE * CHOSEN, CHOSEN]);
    let y = input(&mut g, "y", &[SIDE, CHOSEN]);
    let shares = input(&mut g, "shares", &[CHOSEN, CHOSEN]);
    // Not the first of its storage, and as long as three.
    let weights = g.weight("weights", DType::F32, &[SIDE * CHOSEN * 3]);
    let weight = g.slice(weights, 0, SIDE * CHOSEN, SIDE * CHOSEN);
    let opened = g.unary(UnaryKind::Sigmoid, shares);
    g.label("opened");
    let opened = g.scale(opened, 2.0, 0.0);
    g.label("gain");
    let opened = g.reshape(opened, &[1, CHOSEN, CHOSEN]);
    let row = SIDE * 4;
    let shown = g.view(y, [SIDE, CHOSEN, CHOSEN, 1], [4, 0, row, row * CHOSEN], 0);
    let added = g.mul(shown, opened);
    g.label("added");
    let added = g.reshape(added, &[SIDE * CHOSEN, CHOSEN]);
    let sum = g.add(streams, added);
    g.label("sum");
    let apart = g.reshape(sum, &[SIDE, CHOSEN, CHOSEN]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[apart]);
    g.label("norm");
    let weight = g.scale(weight, 0.25, 0.0);
    g.label("weight");
    let weight = g.reshape(weight, &[SIDE, CHOSEN]);
    let out = g.mul(norm, weight);
    g.label("weighted");
    g.output("sum", sum);
    g.output("out", out);
    Fixture::new("combine_norm", g, Data::new())
}

/// `Σ sigmoid(gate)·x` over `CHOSEN` streams of as many tokens.
fn mixed(name: &str, mut g: Import, gate: Value) -> Fixture {
    let x = input(&mut g, "x", &[SIDE, CHOSEN, CHOSEN]);
    let opened = g.unary(UnaryKind::Sigmoid, gate);
    g.label("opened");
    let opened = g.reshape(opened, &[SIDE, CHOSEN, CHOSEN]);
    let gated = g.mul(x, opened);
    g.label("gated");
    let across = g.permute(gated, [1, 0, 2, 3]);
    let sum = g.op(Op::SumRows, &[across]);
    g.label("sum");
    let out = g.reshape(sum, &[SIDE, CHOSEN]);
    g.output("out", out);
    Fixture::new(name, g, Data::new())
}

/// The same with gates as they are.
pub fn mix_streams() -> Fixture {
    let mut g = Import::default();
    let gate = input(&mut g, "gate", &[SIDE * CHOSEN, CHOSEN]);
    mixed("mix_streams", g, gate)
}

/// The same with gates that are products, of columns behind a function.
pub fn mul_mat_mix() -> Fixture {
    let mut g = Import::default();
    let x = input(&mut g, "columns", &[SIDE, CHOSEN]);
    let weight = g.weight("weight", DType::F32, &[SIDE, SIDE * CHOSEN]);
    let silu = g.unary(UnaryKind::Silu, x);
    g.label("silu");
    let gate = g.op(Op::MulMat, &[weight, silu]);
    g.label("gate");
    mixed("mul_mat_mix", g, gate)
}

/// `silu(gate)·up`.
pub fn swiglu() -> Fixture {
    let mut g = Import::default();
    let (gate, up) = (input(&mut g, "gate", &[SIDE, SIDE]), input(&mut g, "up", &[SIDE, SIDE]));
    let act = g.unary(UnaryKind::Silu, gate);
    g.label("act");
    let out = g.mul(act, up);
    g.label("product");
    g.output("out", out);
    Fixture::new("swiglu", g, Data::new())
}

/// Two products of the same columns.
pub fn mul_mats() -> Fixture {
    let mut g = Import::default();
    let x = input(&mut g, "x", &[SIDE, SIDE]);
    for name in ["first", "second"] {
        let weight = g.weight(name, DType::F32, &[SIDE, SIDE]);
        let out = g.op(Op::MulMat, &[weight, x]);
        g.label(name);
        g.output(&format!("out.{name}"), out);
    }
    Fixture::new("mul_mats", g, Data::new())
}

/// The choice of `CHOSEN` experts of `SIDE` for as many tokens as are chosen.
pub fn router() -> Fixture {
    router_of("router", SIDE)
}

/// The same of another number of experts.
fn router_of(name: &str, experts: u64) -> Fixture {
    let mut g = Import::default();
    let logits = input(&mut g, "logits", &[experts, CHOSEN]);
    let shares = g.op(Op::Softmax { scale: 1.0 }, &[logits]);
    g.label("softmax");
    let ids = g.op(Op::TopK { k: CHOSEN as u32 }, &[shares]);
    g.label("top");
    let table = g.reshape(shares, &[1, experts, CHOSEN]);
    let shares = g.op(Op::GetRows, &[table, ids]);
    g.label("gather");
    let shares = g.reshape(shares, &[CHOSEN, CHOSEN]);
    let sum = g.op(Op::SumRows, &[shares]);
    g.label("sum");
    let least = g.op(Op::Clamp { min: 1e-4, max: f32::INFINITY }, &[sum]);
    g.label("least");
    let weights = g.binary(BinaryKind::Div, shares, least);
    g.label("quotient");
    g.output("ids", ids);
    g.output("weights", weights);
    Fixture::new(name, g, Data::new())
}

/// Experts that a token uses; as many tokens, so that a turned view keeps its shape.
const CHOSEN: u64 = 4;

/// What experts give, weighted and summed: `[SIDE, tokens]`.
fn expert_sum_of(g: &mut Import) -> Value {
    let x = input(g, "x", &[SIDE, CHOSEN, CHOSEN]);
    let weights = input(g, "weights", &[CHOSEN, CHOSEN]);
    let weights = g.reshape(weights, &[1, CHOSEN, CHOSEN]);
    let weighted = g.mul(x, weights);
    g.label("weighted");
    let across = g.permute(weighted, [1, 0, 2, 3]);
    let sum = g.op(Op::SumRows, &[across]);
    g.label("sum");
    g.reshape(sum, &[SIDE, CHOSEN])
}

/// `Σ weights·x` over experts.
pub fn expert_sum() -> Fixture {
    let mut g = Import::default();
    let out = expert_sum_of(&mut g);
    g.output("out", out);
    Fixture::new("expert_sum", g, Data::new())
}

/// The same, and an expert that all tokens use behind a gate: `[SIDE, tokens]`.
fn shared_sum_of(g: &mut Import) -> Value {
    let shared = input(g, "shared", &[SIDE, CHOSEN]);
    let gate = input(g, "gate", &[1, CHOSEN]);
    let routed = expert_sum_of(g);
    let opened = g.unary(UnaryKind::Sigmoid, gate);
    g.label("opened");
    let gated = g.mul(shared, opened);
    g.label("gated");
    let total = g.add(routed, gated);
    g.label("total");
    total
}

/// `Σ weights·x + sigmoid(gate)·shared`.
pub fn expert_sum_shared() -> Fixture {
    let mut g = Import::default();
    let out = shared_sum_of(&mut g);
    g.output("out", out);
    Fixture::new("expert_sum_shared", g, Data::new())
}

/// A residual added to what experts give, and the norm of that.
pub fn expert_sum_norm() -> Fixture {
    let mut g = Import::default();
    let given = expert_sum_of(&mut g);
    residual_norm("expert_sum_norm", g, given)
}

/// The same with an expert that all tokens use.
pub fn expert_sum_shared_norm() -> Fixture {
    let mut g = Import::default();
    let given = shared_sum_of(&mut g);
    residual_norm("expert_sum_shared_norm", g, given)
}

fn residual_norm(name: &str, mut g: Import, given: Value) -> Fixture {
    let [residual, weight] =
        [input(&mut g, "residual", &[SIDE, CHOSEN]), g.weight("weight", DType::F32, &[SIDE])];
    let sum = g.add(given, residual);
    g.label("added");
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
    g.label("norm");
    let out = g.mul(norm, weight);
    g.label("normed");
    g.output("added", sum);
    g.output("out", out);
    Fixture::new(name, g, Data::new())
}

/// `swiglu(gate·x, up·x)` with matrices chosen by index.
pub fn mul_mat_id_swiglu() -> Fixture {
    let mut g = Import::default();
    let x = input(&mut g, "x", &[SIDE, CHOSEN, CHOSEN]);
    let ids = g.input("ids", DType::I32, &[CHOSEN, CHOSEN]);
    chosen_pair("mul_mat_id_swiglu", g, x, ids)
}

/// Experts in other layouts than those on which rules are tried: columns and indices that are parts of wider rows, and a
/// choice of all experts there are.
pub fn experts() -> [Fixture; 2] {
    let mut g = Import::default();
    let x = input(&mut g, "x", &[2 * SIDE, CHOSEN, CHOSEN]);
    let x = g.slice(x, 0, SIDE, SIDE);
    let ids = g.input("ids", DType::I32, &[CHOSEN, 2 * CHOSEN]);
    let wide = g.reshape(ids, &[2 * CHOSEN, CHOSEN]);
    let ids = g.slice(wide, 0, CHOSEN, CHOSEN);
    [chosen_pair("experts of parts of rows", g, x, ids), router_of("a choice of all", CHOSEN)]
}

fn chosen_pair(name: &str, mut g: Import, x: Value, ids: Value) -> Fixture {
    let products = ["gate", "up"].map(|name| {
        let weight = g.weight(&format!("{name}.weight"), DType::F32, &[SIDE, SIDE, 3]);
        let product = g.op(Op::MulMatId, &[weight, x, ids]);
        g.label(name);
        product
    });
    let out = g.op(Op::Swiglu, &products);
    g.label("product");
    g.output("out", out);
    let mut data = Data::new();
    // As many as the storage holds.
    let count = g.graph().storages[ids.storage.index()].bytes / 4;
    let chosen: Vec<i32> = (0..count).map(|i| (i * 5 % 7 % 3) as i32).collect();
    data.insert("ids".to_owned(), int_bytes(&chosen));
    Fixture::new(name, g, data)
}

/// Two products of the same columns, labelled `gate` and `up`.
fn projections(g: &mut Import) -> [Value; 2] {
    let x = input(g, "x", &[SIDE, SIDE]);
    ["gate", "up"].map(|name| {
        let weight = g.weight(&format!("{name}.weight"), DType::F32, &[SIDE, SIDE]);
        let product = g.op(Op::MulMat, &[weight, x]);
        g.label(name);
        product
    })
}

/// `swiglu(gate·x, up·x)`.
pub fn mul_mat_swiglu() -> Fixture {
    let mut g = Import::default();
    let products = projections(&mut g);
    let out = g.op(Op::Swiglu, &products);
    g.label("product");
    g.output("out", out);
    Fixture::new("mul_mat_swiglu", g, Data::new())
}

/// `silu(gate·x)·(up·x)`.
pub fn mul_mat_gated() -> Fixture {
    let mut g = Import::default();
    let [gate, up] = projections(&mut g);
    let act = g.unary(UnaryKind::Silu, gate);
    g.label("act");
    let out = g.mul(act, up);
    g.label("product");
    g.output("out", out);
    Fixture::new("mul_mat_gated", g, Data::new())
}

/// Attention over a mask, with sinks, and the gate of its result.
pub fn gated_attention() -> Fixture {
    let mut g = Import::default();
    let (heads, tokens, groups) = (4, 4, 2);
    let q = input(&mut g, "q", &[SIDE, tokens, heads]);
    let [k, v] = ["k", "v"].map(|name| input(&mut g, name, &[SIDE, SIDE, groups]));
    let mask = input(&mut g, "mask", &[SIDE, tokens, heads]);
    let sinks = g.weight("sinks", DType::F32, &[heads]);
    let gate = input(&mut g, "gate", &[SIDE, heads, tokens]);
    let attended = g.op(Op::FlashAttention { scale: 0.25 }, &[q, k, v, mask, sinks]);
    g.label("attention");
    let opened = g.unary(UnaryKind::Sigmoid, gate);
    g.label("opened");
    let out = g.mul(attended, opened);
    g.label("gated");
    g.output("out", out);
    Fixture::new("gated_attention", g, Data::new())
}

/// The rules over rows with all four extents in use.
pub fn four_extents() -> Vec<Fixture> {
    const SHAPE: [u64; 4] = [SIDE, 3, 2, 2];
    let mut g = Import::default();
    let [a, b, gate, up] = ["a", "b", "gate", "up"].map(|name| input(&mut g, name, &SHAPE));
    let weight = g.weight("weight", DType::F32, &[SIDE]);
    let sum = g.add(a, b);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
    let weighted = g.mul(norm, weight);
    g.output("sum", sum);
    g.output("normed sum", weighted);
    let act = g.unary(UnaryKind::Silu, gate);
    let product = g.mul(act, up);
    g.output("product", product);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[product]);
    let weighted = g.mul(norm, weight);
    g.output("weighted", weighted);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[up]);
    let weighted = g.mul(norm, weight);
    let opened = g.unary(UnaryKind::Sigmoid, gate);
    let gated = g.mul(weighted, opened);
    g.output("gated", gated);
    vec![Fixture::new("rows with four extents", g, Data::new())]
}

/// As many tokens as heads, so that a turned view keeps its shape.
pub const SQUARE: Layer = Layer { key_heads: 4, value_heads: 4, tokens: 4, epilogue: None, ..delta::SMALL };

/// For each rule a fixture, and the label of the root at which it fires there.
pub fn firing() -> Vec<(&'static str, &'static str, Fixture)> {
    let core = SQUARE.fixture("gdn_core");
    let pool = Layer { states: delta::whole_pool(1), ..SQUARE };
    let segments = vec![segmented::segment(0, 0, 4, 9)];
    let layer =
        segmented::Segmented { key_heads: 4, value_heads: 4, slots: 1, segments, ..segmented::one(4) };
    vec![
        ("gdn_layer", "net", layer.fixture("gdn_layer")),
        ("gdn_core_in_place", "net", pool.fixture("gdn_core_in_place")),
        ("gdn_core", "net", core),
        ("gated_attention", "attention", gated_attention()),
        ("gated_norm", "norm", gated_norm()),
        ("pool_rows", "store", pool_rows()),
        ("norm_rope_rows", "store", cached::SMALL.fixture("norm_rope_rows")),
        ("norm_rope", "rope", norm_rope()),
        ("combine_norm", "norm", combine_norm()),
        ("add_rms_norm", "norm", add_rms_norm()),
        ("rms_norm_weight", "norm", rms_norm_weight()),
        ("router", "top", router()),
        ("mul_mat_mix", "sum", mul_mat_mix()),
        ("mix_streams", "sum", mix_streams()),
        ("expert_sum_shared_norm", "sum", expert_sum_shared_norm()),
        ("expert_sum_norm", "sum", expert_sum_norm()),
        ("expert_sum_shared", "sum", expert_sum_shared()),
        ("expert_sum", "sum", expert_sum()),
        ("mul_mat_id_swiglu", "product", mul_mat_id_swiglu()),
        ("mul_mat_swiglu", "product", mul_mat_swiglu()),
        ("mul_mat_gated", "act", mul_mat_gated()),
        ("swiglu", "act", swiglu()),
        ("mul_mats", "first", mul_mats()),
    ]
}
