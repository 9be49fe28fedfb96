//! `Σ sigmoid(weight·silu(x))·streams` over the residual streams of each token becomes one dispatch.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site, reshaped, squeezed};
use crate::graph::{OpKind, UnaryKind};

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "mul_mat_mix", root: OpKind::SumRows, kernel: "mul_mat_mix", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let sum = at.root();
    let links::Gated { product, sigmoid, x: streams, .. } = links::gated_streams(at, sum)?;
    let gates = at.producer(sigmoid, 0, OpKind::MulMat)?;
    let silu = at.producer(gates, 1, OpKind::Unary)?;
    links::unary_is(at, silu, UnaryKind::Silu)?;
    // The rows of a stream's gates stand behind those of the stream before.
    let weight = at.source(gates, 0)?;
    let [width, count, ..] = streams.shape();
    Ok(at
        .claim("mul_mat_mix", &[silu, gates, sigmoid, product, sum])
        .maybe("weight", reshaped(weight, [weight.shape()[0], width, count, 1]))
        .operand("x", at.source(silu, 0)?)
        .operand("streams", streams)
        .operand("out", squeezed(at.result(sum, 0)?)))
}
