//! `Σ weights·x` over the experts of each token becomes one dispatch.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site, squeezed};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule = Rule { name: "expert_sum", root: OpKind::SumRows, kernel: "expert_sum", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let sum = at.root();
    Ok(links::weighted_sum(at, sum, RULE.kernel)?.operand("out", squeezed(at.result(sum, 0)?)))
}
