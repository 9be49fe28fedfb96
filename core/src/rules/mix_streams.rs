//! `Σ sigmoid(gate)·x` over the residual streams of each token becomes one dispatch.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site, reshaped, squeezed};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "mix_streams", root: OpKind::SumRows, kernel: "mix_streams", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let sum = at.root();
    let links::Gated { product, sigmoid, gate, x } = links::gated_streams(at, sum)?;
    Ok(at
        .claim("mix_streams", &[sigmoid, product, sum])
        .operand("x", x)
        .maybe("gate", reshaped(gate, x.shape()))
        .operand("out", squeezed(at.result(sum, 0)?)))
}
