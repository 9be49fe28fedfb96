//! `sum = residual + (Σ weights·x + sigmoid(gate)·extra); rms_norm(sum)·weight` becomes one dispatch that gives both.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "expert_sum_shared_norm", root: OpKind::SumRows, kernel: "expert_sum_norm", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let (total, claim) = links::shared_sum(at, at.root(), RULE.kernel)?;
    links::residual_norm(at, total, claim)
}
