//! Graphs that look like a rule's pattern and are not, or that a contract refuses: one reason each.

use super::Fixture;
use super::edit::{Change, changed};
use super::import::{Import, Value};
use super::segmented::{self, Segmented};
use crate::Random;
use crate::run::Data;
use weft_core::graph::{BinaryKind, DType, Layout, Op, UnaryKind};

/// Rows of floats at any byte distance.
fn at_pitch(bytes: u64, pitch: u64, first: u64, width: u64) -> Vec<u8> {
    let mut random = Random::named("at pitch", pitch);
    let mut all = vec![0xff; bytes as usize];
    let mut start = first;
    while start + width * 4 <= bytes {
        for at in (start..start + width * 4).step_by(4) {
            all[at as usize..at as usize + 4].copy_from_slice(&random.unit().to_le_bytes());
        }
        start += pitch;
    }
    all
}

/// A projection whose rows are not a whole number of elements apart.
pub fn slanted_projection() -> Fixture {
    let layer = segmented::one(3);
    let mut g = Import::default();
    let bytes = (layer.channels() * 4 + 2) * 3 + 2;
    let flat = g.input("x", DType::I8, &[bytes]);
    let pitch = layer.channels() * 4 + 2;
    let layout = Layout {
        dtype: DType::F32,
        shape: [layer.channels(), 3, 1, 1],
        strides: [4, pitch, pitch * 3, pitch * 3],
        offset: 0,
    };
    let x = Value { storage: flat.storage, layout };
    let out = layer.build(&mut g, "", x);
    g.output("out", out);
    let mut data = layer.data("");
    data.insert("x".to_owned(), at_pitch(bytes, pitch, 0, layer.channels()));
    Fixture::new("a slanted projection", g, data)
}

/// A projection that somebody scales after the convolution has read it and before its tail is kept.
pub fn changing_projection() -> Fixture {
    let layer = segmented::one(3);
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[layer.channels(), 3]);
    let x = g.packed_copy(x);
    let out = layer.build(&mut g, "", x);
    g.output("out", out);
    let fixture = Fixture::new("a changing projection", g, layer.data(""));
    let made = changed(&fixture.graph, fixture.node("keep"), &Change::Writer(0)).expect("a legal graph");
    fixture.with("", made.graph)
}

/// A gate that starts in the middle of an element.
pub fn misaligned_gate() -> Fixture {
    let mut g = Import::default();
    let flat = g.input("gate", DType::I8, &[66]);
    let up = g.input("up", DType::F32, &[16]);
    let layout = Layout { offset: 2, ..up.layout };
    let act = g.unary(UnaryKind::Silu, Value { storage: flat.storage, layout });
    let out = g.mul(act, up);
    g.output("out", out);
    let data = Data::from([("gate".to_owned(), at_pitch(66, 66, 2, 16))]);
    Fixture::new("a misaligned gate", g, data)
}

/// A norm whose weight is made from the sum that it norms.
pub fn weight_of_its_own_sum() -> Fixture {
    let mut g = Import::default();
    let (a, b) = (g.input("a", DType::F32, &[16]), g.input("b", DType::F32, &[16]));
    let sum = g.add(a, b);
    let weight = g.unary(UnaryKind::Tanh, sum);
    let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
    g.label("norm");
    let out = g.mul(norm, weight);
    g.output("out", out);
    Fixture::new("a norm weighted by its own sum", g, Data::new())
}

/// One sum, two norms.
pub fn two_norms_of_one_sum() -> Fixture {
    let mut g = Import::default();
    let (a, b) = (g.input("a", DType::F32, &[16, 3]), g.input("b", DType::F32, &[16, 3]));
    let sum = g.op(Op::Binary { kind: BinaryKind::Add }, &[a, b]);
    g.label("sum");
    for name in ["first", "second"] {
        let weight = g.weight(name, DType::F32, &[16]);
        let norm = g.op(Op::RmsNorm { eps: 1e-5 }, &[sum]);
        let out = g.mul(norm, weight);
        g.output(&format!("out.{name}"), out);
    }
    Fixture::new("two norms of one sum", g, Data::new())
}

/// A projection by a weight of four bits.
pub fn quantised_projection() -> Fixture {
    let mut g = Import::default();
    let weight = g.weight("weight", DType::Q4_0, &[64, 16]);
    let x = g.input("x", DType::F32, &[64, 3]);
    let out = g.op(Op::MulMat, &[weight, x]);
    g.output("out", out);
    Fixture::new("a quantised projection", g, Data::new())
}

/// A gated product that lands one row further in the buffer that holds its gate: legal, since the product itself does not
/// read the gate, and no kernel could write it in one pass.
pub fn product_over_its_gate() -> Fixture {
    let mut g = Import::default();
    let buffer = g.state("buffer", DType::F32, &[16, 5]);
    let up = g.input("up", DType::F32, &[16, 4]);
    let (gate, place) = (g.slice(buffer, 1, 0, 4), g.slice(buffer, 1, 1, 4));
    let act = g.unary(UnaryKind::Silu, gate);
    g.label("act");
    let out = g.op_at(Op::Binary { kind: BinaryKind::Mul }, &[act, up], place);
    g.label("product");
    g.output("out", out);
    Fixture::new("a product over its gate", g, Data::new())
}

/// A gate times itself: the pattern of a gated product, with the gate's own value in the place of the other operand.
pub fn square_of_a_gate() -> Fixture {
    let mut g = Import::default();
    let x = g.input("x", DType::F32, &[16, 4]);
    let act = g.unary(UnaryKind::Silu, x);
    g.label("act");
    let square = g.mul(act, act);
    g.label("product");
    g.output("out", square);
    Fixture::new("a gate times itself", g, Data::new())
}

/// Heads of eight, which no register divides.
pub fn narrow_heads() -> Fixture {
    Segmented { dim: 8, ..segmented::one(3) }.fixture("heads of eight")
}

/// More key heads than a contract counts.
pub fn many_heads() -> Fixture {
    let heads = 65_537;
    Segmented { key_heads: heads, value_heads: heads, ..segmented::one(1) }.graph("too many key heads")
}
