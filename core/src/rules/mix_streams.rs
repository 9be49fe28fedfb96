//! `Σ sigmoid(gate)·x` over the residual streams of each token becomes one dispatch.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site, reshaped, squeezed};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "mix_streams", root: OpKind::SumRows, kernel: "mix_streams", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let sum = at.root();
    let product = links::across(at, sum)?;
    let ((sigmoid, gate), other) = match links::strength(at, product, 1) {
        Ok(strength) => (strength, 0),
        Err(first) => (links::strength(at, product, 0).map_err(|_| first)?, 1),
    };
    let x = at.source(product, other)?;
    let gate = reshaped(gate, x.shape());
    Ok(at
        .claim("mix_streams", &[sigmoid, product, sum])
        .operand("x", x)
        .maybe("gate", gate)
        .operand("out", squeezed(at.result(sum, 0)?)))
}
