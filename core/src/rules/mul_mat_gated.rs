//! `act(gate·x)·(up·x)` out of plain operations becomes one dispatch.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::{BinaryKind, OpKind};

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "mul_mat_gated", root: OpKind::Unary, kernel: "mul_mat_swiglu", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let act = at.root();
    let kind = links::gate_kind(at, act)?;
    let gate = at.producer(act, 0, OpKind::MulMat)?;
    let product = at.reader(act, OpKind::Binary)?;
    let (_, up) = at.sides(product, BinaryKind::Mul, act)?;
    let up = at.producer(product, up, OpKind::MulMat)?;
    Ok(links::projected(at, gate, up)?
        .covering(&[act, product])
        .operand("out", at.result(product, 0)?)
        .integer("kind", kind))
}
