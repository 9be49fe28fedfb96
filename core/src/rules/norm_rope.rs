//! `rope(rms_norm(x)·weight)` per head becomes one dispatch.

use super::{Rule, constants};
use crate::driver::{Claim, Decline, Site, Why};
use crate::graph::{BinaryKind, NodeId, OpKind, Tensor};

/// The rule.
pub(super) static RULE: Rule = Rule { name: "norm_rope", root: OpKind::Rope, kernel: "norm_rope", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let rope = at.root();
    let Turned { claim, x, .. } = turned(at, "norm_rope", rope)?;
    Ok(claim.operand("x", x).operand("out", at.result(rope, 0)?))
}

/// A claim without what is normed and the result.
pub(super) struct Turned {
    pub claim: Claim,
    pub norm: NodeId,
    /// What is normed, by heads.
    pub x: Tensor,
}

/// The norm and the rotary embedding behind it.
pub(super) fn turned(at: &Site<'_, '_>, kernel: &'static str, rope: NodeId) -> Result<Turned, Decline> {
    let weighted = at.producer(rope, 0, OpKind::Binary)?;
    let norm = at.producer(weighted, 0, OpKind::RmsNorm)?;
    let (_, weight) = at.sides(weighted, BinaryKind::Mul, norm)?;
    let x = at.source(norm, 0)?;
    // What is normed as a head must be turned as one.
    let alike = at.maybe(rope, 0).is_some_and(|heads| heads.shape() == x.shape());
    at.check(alike, rope, || Why::Rearranged { source: 0 })?;
    let claim = at
        .claim(kernel, &[norm, weighted, rope])
        .operand("weight", at.source(weighted, weight)?)
        .operand("positions", at.source(rope, 1)?)
        .maybe("divisors", at.maybe(rope, 2))
        .constants(constants(&at.op(rope)))
        .constants(constants(&at.op(norm)));
    Ok(Turned { claim, norm, x })
}
