//! A gated delta net from convolution to gated norm becomes one dispatch with its states in place.

use super::{Rule, links};
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
    let (snapshots, heads) = links::delta(at, net)?;
    let mut nodes = vec![conv, keep, silu, q, k, beta, net, norm, weighted, gate, gated];
    nodes.extend(decay.nodes);
    Ok(at
        .claim("gdn_layer", &nodes)
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
        .operand("history", at.result(keep, 0)?)
        .operand("state", at.result(net, 1)?)
        .integer("key_heads", key_heads)
        .integer("snapshots", snapshots)
        .integer("heads", heads)
        .float("l2_eps", l2_eps)
        .integer("form", form)
        .float("eps", links::rms_eps(at, norm)?)
        .integer("act", act)
        .constants(super::constants(&at.op(conv))))
}

/// q, k and v must be the three consecutive slices of the convolved row. Gives the number of key heads.
fn slices(at: &Site<'_, '_>, net: NodeId, q: NodeId, k: NodeId, silu: NodeId) -> Result<u32, Decline> {
    let row = at.result(silu, 0)?;
    let (q, k, v) = (at.source(q, 0)?, at.source(k, 0)?, at.source(net, 2)?);
    let [dim, key_heads, ..] = q.shape();
    let heads = v.shape()[1];
    let base = row.layout.offset;
    let starts = [base, base + dim * key_heads * 4, base + 2 * dim * key_heads * 4];
    let whole = row.shape()[0] == dim * (2 * key_heads + heads);
    let lies = |t: Tensor, start: u64| {
        let [first, second, third, _] = t.layout.strides;
        let rows = row.layout.strides[1];
        t.storage == row.storage
            && t.layout.offset == start
            && first == 4
            && second == dim * 4
            && third == rows
    };
    let placed = [q, k, v].into_iter().zip(starts).all(|(t, start)| lies(t, start));
    at.check(whole && placed, net, || Why::NotSame {
        what: "q, k, v are not the slices of the convolved row",
    })?;
    at.need(u32::try_from(key_heads).ok(), net, || Why::Attr { what: "key heads" })
}
