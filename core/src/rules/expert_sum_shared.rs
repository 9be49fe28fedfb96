//! `Σ weights·x + sigmoid(gate)·extra` becomes one dispatch.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site, Why};
use crate::graph::{BinaryKind, Op, OpKind, UnaryKind};

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "expert_sum_shared", root: OpKind::SumRows, kernel: "expert_sum", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let sum = at.root();
    let claim = links::weighted_sum(at, sum)?;
    let total = at.reader(sum, OpKind::Binary)?;
    let (_, other) = at.sides(total, BinaryKind::Add, sum)?;
    let gated = at.producer(total, other, OpKind::Binary)?;
    at.check(at.op(gated) == Op::Binary { kind: BinaryKind::Mul }, gated, || Why::Attr { what: "kind" })?;
    let gate = at.producer(gated, 1, OpKind::Unary)?;
    links::unary_is(at, gate, UnaryKind::Sigmoid)?;
    Ok(claim
        .covering(&[total, gated, gate])
        .operand("extra", at.source(gated, 0)?)
        .operand("gate", at.source(gate, 0)?)
        .operand("out", at.result(total, 0)?))
}
