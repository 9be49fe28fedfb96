//! Attention and the gate of its result become one dispatch.

use super::{Rule, constants, links};
use crate::driver::{Claim, Decline, Site, Why, reshaped};
use crate::graph::{BinaryKind, OpKind};

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "gated_attention", root: OpKind::FlashAttention, kernel: "gated_attention", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let attention = at.root();
    let product = at.reader(attention, OpKind::Binary)?;
    let (_, gate) = at.sides(product, BinaryKind::Mul, attention)?;
    let gate = at.producer(product, gate, OpKind::Unary)?;
    let act = links::gate_kind(at, gate)?;
    // The product may be one of whole rows, the heads side by side.
    let by_head = |tensor| at.made(attention).and_then(|made| reshaped(tensor, made.shape()));
    let opened = at.maybe(gate, 0).and_then(by_head);
    let opened = at.need(opened, gate, || Why::Rearranged { source: 0 })?;
    let out = at.made(product).and_then(by_head);
    let out =
        at.need(out, product, || Why::NotSame { what: "the product is not of the shape of the heads" })?;
    Ok(at
        .claim("gated_attention", &[attention, gate, product])
        .operand("q", at.source(attention, 0)?)
        .operand("k", at.source(attention, 1)?)
        .operand("v", at.source(attention, 2)?)
        .maybe("mask", at.maybe(attention, 3))
        .maybe("sinks", at.maybe(attention, 4))
        .maybe("segments", at.maybe(attention, 5))
        .operand("out", out)
        .operand("gate", opened)
        .constants(constants(&at.op(attention)))
        .integer("act", act))
}
