//! `sum = a + b; rms_norm(sum)·weight` becomes one dispatch that gives both.

use super::{Rule, constants, links};
use crate::driver::{Claim, Decline, Site, Why};
use crate::graph::{BinaryKind, Op, OpKind};

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "add_rms_norm", root: OpKind::RmsNorm, kernel: "add_rms_norm", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let norm = at.root();
    let sum = at.producer(norm, 0, OpKind::Binary)?;
    at.check(at.op(sum) == Op::Binary { kind: BinaryKind::Add }, sum, || Why::Attr { what: "kind" })?;
    let (weighted, weight) = links::weighted(at, norm)?;
    Ok(at
        .claim("add_rms_norm", &[sum, norm, weighted])
        .operand("a", at.source(sum, 0)?)
        .operand("b", at.source(sum, 1)?)
        .operand("weight", weight)
        .maybe("sum", at.made(sum))
        .operand("out", at.result(weighted, 0)?)
        .constants(constants(&at.op(norm))))
}
