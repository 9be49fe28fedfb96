//! Products of the same columns by several matrices become one dispatch.

use super::Rule;
use crate::driver::{Claim, Decline, Site};
use crate::graph::OpKind;
use crate::kernels::mul_mats::PRODUCTS;

/// The rule.
pub(super) static RULE: Rule = Rule { name: "mul_mats", root: OpKind::MulMat, kernel: "mul_mats", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let first = at.root();
    let x = at.source(first, 1)?;
    let siblings = at.siblings(first, 1)?;
    let mut claim = at.claim("mul_mats", &[]).operand("x", x);
    for (product, (weight, out)) in [first].into_iter().chain(siblings).zip(PRODUCTS) {
        claim = claim
            .covering(&[product])
            .operand(weight, at.source(product, 0)?)
            .operand(out, at.result(product, 0)?);
    }
    Ok(claim)
}
