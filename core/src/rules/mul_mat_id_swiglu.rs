//! `silu(gate·x)·(up·x)` with a pair of matrices chosen for each column becomes one dispatch.

use super::Rule;
use crate::driver::{Claim, Decline, Site, Why};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "mul_mat_id_swiglu", root: OpKind::Swiglu, kernel: "mul_mat_id_swiglu", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let product = at.root();
    let gate = at.producer(product, 0, OpKind::MulMatId)?;
    let up = at.producer(product, 1, OpKind::MulMatId)?;
    let (x, ids) = (at.source(gate, 1)?, at.source(gate, 2)?);
    at.check(at.maybe(up, 1) == Some(x), up, || Why::NotSame { what: "x" })?;
    at.check(at.maybe(up, 2) == Some(ids), up, || Why::NotSame { what: "ids" })?;
    Ok(at
        .claim("mul_mat_id_swiglu", &[gate, up, product])
        .operand("gate", at.source(gate, 0)?)
        .operand("up", at.source(up, 0)?)
        .operand("x", x)
        .operand("ids", ids)
        .operand("out", at.result(product, 0)?))
}
