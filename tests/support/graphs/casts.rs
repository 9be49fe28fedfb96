//! A cast written as a copy into its own result, with a sum, a selection and a delta net layer behind it.

use super::Fixture;
use super::delta::{Layer, SMALL, whole_pool};
use super::import::Import;
use crate::run::Data;
use weft_core::graph::{DType, Op};

/// How the cast is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// A copy whose target is its own result.
    IntoSelf,
    /// A copy into fresh bytes.
    Plain,
}

/// The smallest graph that stalls whoever walks it by the identity of tensors.
pub fn fixture(cast: Cast) -> Fixture {
    let layer = Layer { states: whole_pool(1), ..SMALL };
    let (cells, tokens, k) = (24, layer.tokens, 4);
    let mut g = Import::default();
    let mask = g.input("mask", DType::F16, &[cells, tokens]);
    let scores = g.input("scores", DType::F32, &[cells, tokens]);
    let wide = match cast {
        Cast::IntoSelf => g.cast_into_self(mask, DType::F32),
        Cast::Plain => g.op(Op::Cast { to: DType::F32 }, &[mask]),
    };
    g.label("cast");
    let visible = g.add(scores, wide);
    let best = g.op(Op::TopK { k }, &[visible]);
    g.label("top_k");
    let first = g.slice(best, 0, 0, 1);
    let first = g.packed_copy(first);
    let first = g.reshape(first, &[tokens]);
    let table = g.weight("table", DType::F32, &[layer.width(), cells]);
    let row = g.op(Op::GetRows, &[table, first]);
    let row = g.reshape(row, &[layer.width(), tokens, 1]);
    let out = layer.build(&mut g, "", row);
    g.output("out", out);
    let mut data: Data = layer.data("");
    let mut values = Vec::new();
    for t in 0..tokens {
        for c in 0..cells {
            let value = if (c + t) % 3 == 0 { half::f16::NEG_INFINITY } else { half::f16::ZERO };
            values.extend(value.to_le_bytes());
        }
    }
    data.insert("mask".to_owned(), values);
    Fixture::new(format!("cast {cast:?}, then a delta net"), g, data)
}
