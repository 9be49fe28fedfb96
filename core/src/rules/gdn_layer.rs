//! A gated delta net from convolution to gated norm becomes one dispatch with its states in place.

use super::{Rule, constants, links};
use crate::driver::{Claim, Decline, Site, Why};
use crate::graph::{BinaryKind, NodeId, OpKind, Tensor, UnaryKind};

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "gdn_layer", root: OpKind::GatedDeltaNet, kernel: "gdn_layer", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let net = at.root();
    let segments = at.source(net, 6)?;
    let ([q, k], l2_eps, form) = links::unit_pair(at, net)?;
    let silu = at.producer_of_part(q, 0, OpKind::Unary)?;
    links::unary_is(at, silu, UnaryKind::Silu)?;
    let conv = at.producer(silu, 0, OpKind::SsmConv)?;
    let x = at.source(conv, 0)?;
    let history = at.source(conv, 2)?;
    let key_heads = slices(at, net, q, k, silu)?;
    let keep = at.overwriter(conv, OpKind::ConvHistory)?;
    let same = |a: Tensor, b: Tensor| a.storage == b.storage && a.layout == b.layout;
    at.check(same(at.source(keep, 0)?, x), keep, || Why::NotSame {
        what: "the stored rows are not the convolved ones",
    })?;
    at.check(same(at.source(keep, 1)?, history), keep, || Why::NotSame { what: "history" })?;
    let tables = [at.source(conv, 3)?, at.source(keep, 2)?];
    at.check(tables.iter().all(|t| same(*t, segments)), conv, || Why::NotSame { what: "segments" })?;
    let decay = links::decay(at, net, 3)?;
    let (beta, raw) = links::strength(at, net, 4)?;
    let norm = at.reader(net, OpKind::RmsNorm)?;
    let (weighted, weight) = links::weighted(at, norm)?;
    let gated = at.reader(weighted, OpKind::Binary)?;
    let (_, gate) = at.sides(gated, BinaryKind::Mul, weighted)?;
    let gate = at.producer(gated, gate, OpKind::Unary)?;
    let act = links::gate_kind(at, gate)?;
    Ok(at
        .claim("gdn_layer", &[conv, keep, silu, q, k, beta, net, norm, weighted, gate, gated])
        .covering(&decay.nodes)
        .operand("x", x)
        .operand("conv", at.source(conv, 1)?)
        .operand("segments", segments)
        .operand("alpha", decay.alpha)
        .operand("dt", decay.dt)
        .operand("a", decay.a)
        .operand("beta", raw)
        .operand("z", at.source(gate, 0)?)
        .operand("weight", weight)
        .operand("out", at.result(gated, 0)?)
        .maybe("history", at.made(keep))
        .operand("state", at.result(net, 1)?)
        .integer("key_heads", key_heads)
        .constants(constants(&at.op(net)))
        .float("l2_eps", l2_eps)
        .integer("form", form)
        .constants(constants(&at.op(norm)))
        .integer("act", act)
        .constants(constants(&at.op(conv))))
}

/// q, k and v must be the three consecutive slices of the convolved row. Gives the number of key heads.
fn slices(at: &Site<'_, '_>, net: NodeId, q: NodeId, k: NodeId, silu: NodeId) -> Result<u32, Decline> {
    let heads = match (at.made(silu), [at.maybe(q, 0), at.maybe(k, 0), at.maybe(net, 2)]) {
        (Some(row), [Some(q), Some(k), Some(v)]) => key_heads(row, [q, k, v]),
        _ => None,
    };
    let heads =
        at.need(heads, net, || Why::NotSame { what: "q, k, v are not the slices of the convolved row" })?;
    // More than the contract's limit in any case.
    Ok(u32::try_from(heads).unwrap_or(u32::MAX))
}

/// The number of key heads, if the three are the slices of the row.
fn key_heads(row: Tensor, slices: [Tensor; 3]) -> Option<u64> {
    let [dim, key_heads, tokens, _] = slices[0].shape();
    let keys = dim * key_heads * 4;
    let starts = [0, keys, 2 * keys].map(|start| row.layout.offset + start);
    let whole = row.shape()[0] == dim * (2 * key_heads + slices[2].shape()[1]) && row.shape()[1] == tokens;
    let lies = |(slice, start): (Tensor, u64)| {
        let strides = [4, dim * 4, row.layout.strides[1]];
        slice.storage == row.storage
            && slice.layout.offset == start
            && (0..3).all(|d| slice.shape()[d] == 1 || slice.layout.strides[d] == strides[d])
    };
    (whole && slices.into_iter().zip(starts).all(lies)).then_some(key_heads)
}
