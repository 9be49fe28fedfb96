//! Two delta nets side by side, as a model and its draft block have them when guesses are verified: several tokens of
//! several sequences, a state after each of the last tokens, each net with a pool of its own.

use super::Fixture;
use super::delta::{Layer, SMALL, whole_pool};
use super::import::Import;
use crate::run::Data;
use weft_core::graph::{DType, Op};

/// The pair, and the sum of both.
pub fn fixture() -> Fixture {
    let layer = Layer { tokens: 3, seqs: 2, snapshots: 3, states: whole_pool(2), ..SMALL };
    let mut g = Import::default();
    let mut data = Data::new();
    let mut outs = Vec::new();
    for prefix in ["model.", "draft."] {
        let row = g.input(&format!("{prefix}row"), DType::F32, &[layer.width(), layer.tokens, layer.seqs]);
        outs.push(layer.build(&mut g, prefix, row));
        data.extend(layer.data(prefix));
    }
    let sum = g.add(outs[0], outs[1]);
    g.output("out", sum);
    let half = g.op(Op::Scale { scale: 0.5, bias: 0.0 }, &[outs[1]]);
    g.output("draft.out", half);
    Fixture::new("two delta nets with snapshots", g, data)
}
