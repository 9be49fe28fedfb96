//! `Σ weights·x + sigmoid(gate)·extra` becomes one dispatch.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "expert_sum_shared", root: OpKind::SumRows, kernel: "expert_sum", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let (total, claim) = links::shared_sum(at, at.root(), RULE.kernel)?;
    Ok(claim.operand("out", at.result(total, 0)?))
}
