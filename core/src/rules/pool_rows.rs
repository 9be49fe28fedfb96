//! Rows of a cache gathered, averaged by blocks, normed, turned, and stored as rows of another cache become one dispatch.

use super::norm_rope::{self, Turned};
use super::{Rule, links};
use crate::driver::{Claim, Decline, Site, Why, reshaped};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule = Rule { name: "pool_rows", root: OpKind::SetRows, kernel: "pool_rows", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let store = at.root();
    let rope = at.producer(store, 1, OpKind::Rope)?;
    let Turned { claim, norm, x } = norm_rope::turned(at, "pool_rows", rope)?;
    let mean = at.producer(norm, 0, OpKind::Scale)?;
    let scale = links::factor(at, mean)?;
    let sum = at.producer(mean, 0, OpKind::SumRows)?;
    let gather = links::across(at, sum, OpKind::GetRows)?;
    // A mean is one head, at the position of its own; its members stand side by side in the list.
    let cells = match [at.maybe(sum, 0), at.maybe(gather, 1)] {
        [Some(seen), Some(list)] => {
            let [block, width, tokens, rest] = seen.shape();
            let single = rest == 1 && x.shape() == [width, 1, tokens, 1];
            if single { reshaped(list, [block, tokens, 1, 1]) } else { None }
        }
        _ => None,
    };
    let cells = at.need(cells, gather, || Why::NotSame { what: "the heads are not the means" })?;
    Ok(claim
        .covering(&[store, mean, sum, gather])
        .operand("cache", at.source(gather, 0)?)
        .operand("cells", cells)
        .operand("rows", at.source(store, 2)?)
        .operand("out", at.result(store, 0)?)
        .float("scale", scale))
}
