//! `rms_norm(x)·weight` becomes one dispatch.

use super::{Rule, constants, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "rms_norm_weight", root: OpKind::RmsNorm, kernel: "rms_norm", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let norm = at.root();
    let (weighted, weight) = links::weighted(at, norm)?;
    Ok(at
        .claim("rms_norm", &[norm, weighted])
        .operand("x", at.source(norm, 0)?)
        .operand("weight", weight)
        .operand("out", at.result(weighted, 0)?)
        .constants(constants(&at.op(norm))))
}
