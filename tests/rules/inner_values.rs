//! Values inside a claim: each must be read as it was made, and none may come in through a port.

use crate::expect::right;
use weft_core::graph::DType;
use weft_core::graph::{BinaryKind, Layout, Op, UnaryKind};
use weft_tests::graphs::delta::{self, Layer};
use weft_tests::graphs::edit::{BETWEEN, Change, changed};
use weft_tests::graphs::import::{Import, Source, Value};
use weft_tests::graphs::small::{SQUARE, firing};
use weft_tests::graphs::{Fixture, labelled};
use weft_tests::run::Data;

#[test]
fn a_gate_times_itself_is_not_a_gated_product() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 4]);
    let act = g.unary(UnaryKind::Silu, x);
    let square = g.mul(act, act);
    g.output("out", square);
    right(&Fixture::new("silu squared", g, Data::new()));
}

#[test]
fn a_norm_times_itself_is_not_a_weighted_norm() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    let square = g.mul(norm, norm);
    g.output("out", square);
    right(&Fixture::new("norm squared", g, Data::new()));
}

#[test]
fn a_norm_gated_by_its_own_value_is_not_a_gated_norm() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 3]);
    let weight = g.weight("weight", DType::F32, &[16]);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[x]);
    let weighted = g.mul(norm, weight);
    let opened = g.unary(UnaryKind::Silu, weighted);
    let out = g.mul(weighted, opened);
    g.output("out", out);
    right(&Fixture::new("norm gated by itself", g, Data::new()));
}

#[test]
fn one_norm_may_serve_as_query_and_as_key() {
    let mut g = Import::default();
    let layer = Layer { epilogue: None, ..SQUARE };
    let mut data = layer.data("");
    let row = layer.row(&mut g, &mut data);
    let gate = layer.gates(&mut g, "");
    let [q, _, v] = layer.slices(&mut g, row);
    let beta = layer.strength(&mut g, "");
    let unit = g.op(Op::L2Norm { eps: 1e-6, form: weft_core::graph::L2Form::SumEps }, &[q]);
    let state = g.input("state", DType::F32, &[layer.dim, layer.dim, layer.value_heads, 1]);
    let op = Op::GatedDeltaNet { snapshots: 1, heads: layer.map };
    let out = g.op(op, &[unit, unit, v, gate, beta, state]);
    g.output("out", out);
    right(&Fixture::new("one norm for query and key", g, data));
}

#[test]
fn views_that_rearrange_inner_values_are_seen() {
    for (_, _, fixture) in firing() {
        for node in fixture.graph.node_ids() {
            for index in 0..fixture.graph.node(node).sources.len() {
                for what in BETWEEN {
                    let change = Change::Via(index, what);
                    let Some(made) = changed(&fixture.graph, node, &change) else { continue };
                    let label = format!("with {change:?} at {}", fixture.graph.describe(node));
                    right(&fixture.with(&label, made.graph));
                }
            }
        }
    }
}

#[test]
fn a_turned_copy_of_states_is_not_the_states() {
    let layer = Layer { states: delta::whole_pool(1), ..SQUARE };
    let fixture = layer.fixture("pool");
    let copy = fixture.node("copy");
    let mut graph = (*fixture.graph).clone();
    let states = graph.nodes[copy.index()].sources[0].unwrap();
    let mut turned = *graph.tensor(states);
    let (dim, heads) = (layer.dim, layer.value_heads);
    let plane = dim * dim * 4;
    turned.layout =
        Layout { shape: [dim, dim, heads, 1], strides: [dim * 4, 4, plane, plane * heads], ..turned.layout };
    graph.tensors.push(turned);
    let turned = weft_core::graph::TensorId(graph.tensors.len() as u32 - 1);
    graph.nodes[copy.index()].sources[0] = Some(turned);
    graph.verify().unwrap();
    right(&fixture.with("with turned states", graph));
}

#[test]
fn a_gate_in_place_below_a_scatter_is_not_forgotten() {
    weft_tests::graphs::sharing::all().iter().for_each(right);
}

#[test]
fn half_of_an_inner_value_is_not_the_value() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 8]);
    let up = g.input("up", DType::F32, &[16, 8]);
    let act = g.unary(UnaryKind::Silu, x);
    // The same shape as the gate, over its first half twice.
    let layout = Layout { strides: [4, 32, 512, 512], ..act.layout };
    let folded = g.alias(act, layout);
    let out = g.op(Op::Binary { kind: BinaryKind::Mul }, &[folded, up]);
    g.output("out", out);
    right(&Fixture::new("overlapping rows of a gate", g, Data::new()));
}

#[test]
fn an_output_is_what_its_version_says() {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16]);
    let doubled: Value = g.scale(x, 2.0, 0.0);
    g.output("doubled", doubled);
    g.push(Op::Scale { scale: 3.0, bias: 0.0 }, &[Source::Value(doubled)], &[doubled], "later");
    let graph = g.graph().clone();
    assert!(labelled(&graph, "later").is_some());
    assert!(g.finish().is_err(), "a later write would change what the host reads");
}

#[test]
fn every_firing_fixture_is_right() {
    firing().iter().for_each(|(_, _, fixture)| right(fixture));
}
