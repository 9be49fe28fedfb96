//! `sum = residual + Σ weights·x; rms_norm(sum)·weight` becomes one dispatch that gives both.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "expert_sum_norm", root: OpKind::SumRows, kernel: "expert_sum_norm", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let sum = at.root();
    let claim = links::weighted_sum(at, sum, RULE.kernel)?;
    links::residual_norm(at, sum, claim)
}
