//! `rope(rms_norm(x)·weight)` per head becomes one dispatch.

use super::{Rule, constants};
use crate::driver::{Claim, Decline, Site, Why};
use crate::graph::{BinaryKind, NodeId, OpKind};

/// The rule.
pub(super) static RULE: Rule = Rule { name: "norm_rope", root: OpKind::Rope, kernel: "norm_rope", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let rope = at.root();
    let (claim, norm) = turned(at, "norm_rope", rope)?;
    Ok(claim.operand("x", at.source(norm, 0)?).operand("out", at.result(rope, 0)?))
}

/// All of the claim but what is normed and the result, and the norm.
pub(super) fn turned(
    at: &Site<'_, '_>,
    kernel: &'static str,
    rope: NodeId,
) -> Result<(Claim, NodeId), Decline> {
    let weighted = at.producer(rope, 0, OpKind::Binary)?;
    let norm = at.producer(weighted, 0, OpKind::RmsNorm)?;
    let (_, weight) = at.sides(weighted, BinaryKind::Mul, norm)?;
    // What is normed as a head must be turned as one.
    let shape = |node| at.maybe(node, 0).map(|tensor| tensor.shape());
    at.check(shape(rope) == shape(norm), rope, || Why::Rearranged { source: 0 })?;
    let claim = at
        .claim(kernel, &[norm, weighted, rope])
        .operand("weight", at.source(weighted, weight)?)
        .operand("positions", at.source(rope, 1)?)
        .maybe("divisors", at.maybe(rope, 2))
        .constants(constants(&at.op(rope)))
        .constants(constants(&at.op(norm)));
    Ok((claim, norm))
}
