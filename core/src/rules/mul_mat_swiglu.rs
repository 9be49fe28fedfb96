//! `silu(gate·x)·(up·x)` becomes one dispatch.

use super::{Rule, constants, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "mul_mat_swiglu", root: OpKind::Swiglu, kernel: "mul_mat_swiglu", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let product = at.root();
    let gate = at.producer(product, 0, OpKind::MulMat)?;
    let up = at.producer(product, 1, OpKind::MulMat)?;
    Ok(links::projected(at, gate, up)?
        .covering(&[product])
        .operand("out", at.result(product, 0)?)
        .constants(constants(&at.op(product))))
}
