//! States in a pool: permuted, cleared, written by somebody else in between; and the convolution's history.

use super::Fixture;
use super::delta::{Layer, SMALL, States, Writer, whole_pool};
use super::import::{Import, Value};
use crate::Random;
use crate::run::{bytes, int_bytes};
use weft_core::graph::{DType, Op, UnaryKind};

const LAYER: Layer = Layer { epilogue: None, tokens: 3, seqs: 2, ..SMALL };

/// A layer over a pool of five cells of which it uses two.
pub fn pool(writer: Writer, fresh: Option<u64>) -> Fixture {
    let states = States::Pool { cells: 5, head: 1, fresh, writer };
    Layer { states, ..LAYER }.fixture(format!("pool, writer {writer:?}, fresh {fresh:?}"))
}

/// A layer over exactly its cells.
pub fn whole(writer: Writer, fresh: Option<u64>) -> Fixture {
    let States::Pool { cells, head, .. } = whole_pool(LAYER.seqs) else { unreachable!("a pool") };
    let states = States::Pool { cells, head, fresh, writer };
    Layer { states, ..LAYER }.fixture(format!("whole pool, writer {writer:?}, fresh {fresh:?}"))
}

/// Every state fixture.
pub fn all() -> Vec<Fixture> {
    let mut all = Vec::new();
    for writer in [Writer::Nobody, Writer::Copied, Writer::Elsewhere] {
        for fresh in [None, Some(1), Some(2)] {
            all.push(pool(writer, fresh));
        }
    }
    for writer in [Writer::Nobody, Writer::Copied] {
        for fresh in [None, Some(0)] {
            all.push(whole(writer, fresh));
        }
    }
    all.push(convolution(false));
    all.push(convolution(true));
    all
}

/// A convolution as importers meet it: history gathered from a pool, joined in front of the inputs, and its last columns
/// copied back to the same cells **before** the convolution runs. With `poisoned` the new tail is NaN, so that reading
/// the history after its overwrite would show.
pub fn convolution(poisoned: bool) -> Fixture {
    let (taps, channels, tokens, cells) = (4, 48, 7, 3);
    let reach = taps - 1;
    let mut g = Import::default();
    let qkv = g.input("qkv", DType::F32, &[channels, tokens]);
    let cache = g.state("history", DType::F32, &[reach * channels, cells]);
    let rows = g.input("rows", DType::I32, &[1]);
    let weight = g.weight("conv", DType::F32, &[taps, channels]);
    let gathered = g.op(Op::GetRows, &[cache, rows]);
    g.label("gather");
    let history = g.reshape(gathered, &[reach, channels, 1]);
    let turned = g.permute(qkv, [1, 0, 2, 3]);
    let joined = g.op(Op::Concat { dim: 0 }, &[history, turned]);
    g.label("join");
    let tail = g.slice(joined, 0, tokens, reach);
    let slot = g.slice(cache, 1, 1, 1);
    let slot: Value = g.reshape(slot, &[reach, channels, 1]);
    g.op(Op::Copy, &[tail, slot]);
    g.label("keep");
    let conv = g.op(Op::SsmConv { dilation: 1 }, &[joined, weight]);
    g.label("conv");
    let out = g.unary(UnaryKind::Silu, conv);
    let seen = g.slice(out, 1, 0, tokens - reach);
    g.output("early", seen);
    let mut data = crate::run::Data::new();
    data.insert("rows".to_owned(), int_bytes(&[1]));
    let mut random = Random::named("convolution", channels);
    let mut inputs: Vec<f32> = (0..channels * tokens).map(|_| random.unit()).collect();
    if poisoned {
        inputs[(channels * (tokens - reach)) as usize..].fill(f32::NAN);
    }
    data.insert("qkv".to_owned(), bytes(&inputs));
    Fixture::new(format!("convolution, poisoned {poisoned}"), g, data)
}
