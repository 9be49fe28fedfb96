//! `rms_norm(x)·weight·act(gate)` becomes one dispatch.

use super::{Rule, constants, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::{BinaryKind, OpKind};

/// The rule.
pub(super) static RULE: Rule = Rule { name: "gated_norm", root: OpKind::RmsNorm, kernel: "gated_norm", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let norm = at.root();
    let (weighted, weight) = links::weighted(at, norm)?;
    let gated = at.reader(weighted, OpKind::Binary)?;
    let (_, gate) = at.sides(gated, BinaryKind::Mul, weighted)?;
    let gate = at.producer(gated, gate, OpKind::Unary)?;
    let act = links::gate_kind(at, gate)?;
    Ok(at
        .claim("gated_norm", &[norm, weighted, gate, gated])
        .operand("x", at.source(norm, 0)?)
        .operand("weight", weight)
        .operand("gate", at.source(gate, 0)?)
        .operand("out", at.result(gated, 0)?)
        .constants(constants(&at.op(norm)))
        .integer("act", act))
}
