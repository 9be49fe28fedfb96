//! `act(gate)·up` becomes one dispatch: SwiGLU, and the output gate of attention.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::{BinaryKind, OpKind};

/// The rule.
pub(super) static RULE: Rule = Rule { name: "swiglu", root: OpKind::Unary, kernel: "swiglu", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let act = at.root();
    let kind = links::gate_kind(at, act)?;
    let product = at.reader(act, OpKind::Binary)?;
    let (_, up) = at.sides(product, BinaryKind::Mul, act)?;
    Ok(at
        .claim("swiglu", &[act, product])
        .operand("gate", at.source(act, 0)?)
        .operand("up", at.source(product, up)?)
        .operand("out", at.result(product, 0)?)
        .integer("kind", kind))
}
