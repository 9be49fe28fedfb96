//! `rope(rms_norm(x)·weight)` per head becomes one dispatch.

use super::{Rule, constants};
use crate::driver::{Claim, Decline, Site};
use crate::graph::{BinaryKind, OpKind};

/// The rule.
pub(super) static RULE: Rule = Rule { name: "norm_rope", root: OpKind::Rope, kernel: "norm_rope", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let rope = at.root();
    let weighted = at.producer(rope, 0, OpKind::Binary)?;
    let norm = at.producer(weighted, 0, OpKind::RmsNorm)?;
    let (_, weight) = at.sides(weighted, BinaryKind::Mul, norm)?;
    Ok(at
        .claim("norm_rope", &[norm, weighted, rope])
        .operand("x", at.source(norm, 0)?)
        .operand("weight", at.source(weighted, weight)?)
        .operand("positions", at.source(rope, 1)?)
        .maybe("divisors", at.maybe(rope, 2))
        .operand("out", at.result(rope, 0)?)
        .constants(constants(&at.op(rope)))
        .constants(constants(&at.op(norm))))
}
