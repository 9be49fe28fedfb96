//! Parts of patterns that several rules share.

use super::single::{constants, l2_form};
use crate::driver::{Claim, Decline, Site, Why, squeezed};
use crate::graph::{BinaryKind, NodeId, Op, OpKind, Tensor, UnaryKind};

/// `a·softplus(alpha + dt)`: the raw projection, the two vectors, and the three nodes.
pub(super) struct Decay {
    pub alpha: Tensor,
    pub dt: Tensor,
    pub a: Tensor,
    pub nodes: [NodeId; 3],
}

/// The decay chain that feeds source `index` of a node.
pub(super) fn decay(at: &Site<'_, '_>, node: NodeId, index: usize) -> Result<Decay, Decline> {
    let scaled = at.producer(node, index, OpKind::Binary)?;
    let soft = match at.producer(scaled, 0, OpKind::Unary) {
        Ok(soft) => soft,
        Err(first) => at.producer(scaled, 1, OpKind::Unary).map_err(|_| first)?,
    };
    let (_, a) = at.sides(scaled, BinaryKind::Mul, soft)?;
    unary_is(at, soft, UnaryKind::Softplus)?;
    let sum = at.producer(soft, 0, OpKind::Binary)?;
    at.check(at.op(sum) == Op::Binary { kind: BinaryKind::Add }, sum, || Why::Attr { what: "kind" })?;
    Ok(Decay {
        alpha: squeezed(at.source(sum, 0)?),
        dt: squeezed(at.source(sum, 1)?),
        a: squeezed(at.source(scaled, a)?),
        nodes: [scaled, soft, sum],
    })
}

/// A sigmoid that feeds source `index` of a node, and its raw operand.
pub(super) fn strength(at: &Site<'_, '_>, node: NodeId, index: usize) -> Result<(NodeId, Tensor), Decline> {
    let sigmoid = at.producer(node, index, OpKind::Unary)?;
    unary_is(at, sigmoid, UnaryKind::Sigmoid)?;
    Ok((sigmoid, squeezed(at.source(sigmoid, 0)?)))
}

/// The norms of q and k that feed sources 0 and 1, with their common guard and form.
pub(super) fn unit_pair(at: &Site<'_, '_>, node: NodeId) -> Result<([NodeId; 2], f32, u32), Decline> {
    let q = at.producer(node, 0, OpKind::L2Norm)?;
    let k = at.producer(node, 1, OpKind::L2Norm)?;
    let guard = match at.op(q) {
        Op::L2Norm { eps, form } if at.op(k) == at.op(q) => Some((eps, l2_form(form))),
        _ => None,
    };
    let (eps, form) = at.need(guard, k, || Why::Attr { what: "eps and form" })?;
    Ok(([q, k], eps, form))
}

/// Declines unless the node is this function.
pub(super) fn unary_is(at: &Site<'_, '_>, node: NodeId, kind: UnaryKind) -> Result<(), Decline> {
    at.check(at.op(node) == Op::Unary { kind }, node, || Why::Attr { what: "kind" })
}

/// The gate function of a gated product: 0 silu, 1 sigmoid.
pub(super) fn gate_kind(at: &Site<'_, '_>, node: NodeId) -> Result<u32, Decline> {
    let kind = match at.op(node) {
        Op::Unary { kind: UnaryKind::Silu } => Some(0),
        Op::Unary { kind: UnaryKind::Sigmoid } => Some(1),
        _ => None,
    };
    at.need(kind, node, || Why::Attr { what: "kind" })
}

/// The product of a norm with its weight: the node and the weight.
pub(super) fn weighted(at: &Site<'_, '_>, norm: NodeId) -> Result<(NodeId, Tensor), Decline> {
    let product = at.reader(norm, OpKind::Binary)?;
    let (_, weight) = at.sides(product, BinaryKind::Mul, norm)?;
    Ok((product, at.source(product, weight)?))
}

/// A claim on two products of the same columns, the first of which opens the second; all but the result and the function.
pub(super) fn projected(at: &Site<'_, '_>, gate: NodeId, up: NodeId) -> Result<Claim, Decline> {
    let x = at.source(gate, 1)?;
    at.check(at.maybe(up, 1) == Some(x), up, || Why::NotSame { what: "x" })?;
    Ok(at
        .claim("mul_mat_swiglu", &[gate, up])
        .operand("gate", at.source(gate, 0)?)
        .operand("up", at.source(up, 0)?)
        .operand("x", x))
}

/// The node of this kind whose second dimension a sum over rows sums up: the sum sees it with its first two exchanged.
pub(super) fn across(at: &Site<'_, '_>, sum: NodeId, want: OpKind) -> Result<NodeId, Decline> {
    let made_by = at.producer_of_part(sum, 0, want)?;
    let across = match (at.maybe(sum, 0), at.made(made_by)) {
        (Some(seen), Some(made)) => {
            let [summed, width, ..] = seen.shape();
            let apart = [width, summed, seen.shape()[2], seen.shape()[3]];
            let layout = if made.shape() == apart { Some(made.layout) } else { made.layout.reshaped(apart) };
            layout.is_some_and(|mut layout| {
                layout.shape.swap(0, 1);
                layout.strides.swap(0, 1);
                layout == seen.layout
            })
        }
        _ => false,
    };
    at.check(across, sum, || Why::Rearranged { source: 0 })?;
    Ok(made_by)
}

/// The product whose second dimension a sum over rows sums up.
fn product_across(at: &Site<'_, '_>, sum: NodeId) -> Result<NodeId, Decline> {
    let product = across(at, sum, OpKind::Binary)?;
    at.check(at.op(product) == Op::Binary { kind: BinaryKind::Mul }, product, || Why::Attr { what: "kind" })?;
    Ok(product)
}

/// Streams, each value times the sigmoid of a gate: the product, the sigmoid, its raw operand, and the streams.
pub(super) struct Gated {
    pub product: NodeId,
    pub sigmoid: NodeId,
    pub gate: Tensor,
    pub x: Tensor,
}

/// The gated streams that a sum over rows sums up.
pub(super) fn gated_streams(at: &Site<'_, '_>, sum: NodeId) -> Result<Gated, Decline> {
    let product = product_across(at, sum)?;
    let ((sigmoid, gate), other) = match strength(at, product, 1) {
        Ok(strength) => (strength, 0),
        Err(first) => (strength(at, product, 0).map_err(|_| first)?, 1),
    };
    Ok(Gated { product, sigmoid, gate, x: at.source(product, other)? })
}

/// A claim of a kernel on a sum over the experts of each token, weighted; all but the result.
pub(super) fn weighted_sum(at: &Site<'_, '_>, sum: NodeId, kernel: &'static str) -> Result<Claim, Decline> {
    let product = product_across(at, sum)?;
    Ok(at
        .claim(kernel, &[product, sum])
        .operand("x", at.source(product, 0)?)
        .operand("weights", squeezed(at.source(product, 1)?)))
}

/// The same with an expert that all tokens use, behind its gate: the node of the total, and the claim.
pub(super) fn shared_sum(
    at: &Site<'_, '_>,
    sum: NodeId,
    kernel: &'static str,
) -> Result<(NodeId, Claim), Decline> {
    let claim = weighted_sum(at, sum, kernel)?;
    let total = at.reader(sum, OpKind::Binary)?;
    let (_, other) = at.sides(total, BinaryKind::Add, sum)?;
    let gated = at.producer(total, other, OpKind::Binary)?;
    at.check(at.op(gated) == Op::Binary { kind: BinaryKind::Mul }, gated, || Why::Attr { what: "kind" })?;
    let gate = at.producer(gated, 1, OpKind::Unary)?;
    unary_is(at, gate, UnaryKind::Sigmoid)?;
    let claim = claim.covering(&[total, gated, gate]);
    Ok((total, claim.operand("extra", at.source(gated, 0)?).operand("gate", at.source(gate, 0)?)))
}

/// A claim on a value with the residual that is added to it, and the norm and weight of their sum.
pub(super) fn residual_norm(at: &Site<'_, '_>, value: NodeId, claim: Claim) -> Result<Claim, Decline> {
    let sum = at.reader(value, OpKind::Binary)?;
    let (_, residual) = at.sides(sum, BinaryKind::Add, value)?;
    let norm = at.reader(sum, OpKind::RmsNorm)?;
    let (weighted, weight) = weighted(at, norm)?;
    Ok(claim
        .covering(&[sum, norm, weighted])
        .operand("residual", at.source(sum, residual)?)
        .operand("weight", weight)
        .maybe("sum", at.made(sum))
        .operand("out", at.result(weighted, 0)?)
        .constants(constants(&at.op(norm))))
}

/// What a node multiplies by, if it adds nothing.
pub(super) fn factor(at: &Site<'_, '_>, scale: NodeId) -> Result<f32, Decline> {
    let factor = match at.op(scale) {
        Op::Scale { scale, bias: 0.0 } => Some(scale),
        _ => None,
    };
    at.need(factor, scale, || Why::Attr { what: "bias" })
}
