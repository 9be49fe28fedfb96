//! Rows of a cache gathered, averaged by blocks, normed, turned, and stored as rows of another cache become one dispatch.

use super::{Rule, links, norm_rope};
use crate::driver::{Claim, Decline, Site, Why, reshaped};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule = Rule { name: "pool_rows", root: OpKind::SetRows, kernel: "pool_rows", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let store = at.root();
    let rope = at.producer(store, 1, OpKind::Rope)?;
    let (claim, norm) = norm_rope::turned(at, "pool_rows", rope)?;
    let mean = at.producer(norm, 0, OpKind::Scale)?;
    let scale = links::factor(at, mean)?;
    let sum = at.producer(mean, 0, OpKind::SumRows)?;
    let gather = links::across(at, sum, OpKind::GetRows)?;
    // One head a token: the position is that of the mean.
    let single = at.maybe(sum, 0).is_some_and(|seen| {
        let [_, width, tokens, rest] = seen.shape();
        let heads = [width, 1, tokens, 1];
        rest == 1 && at.maybe(norm, 0).is_some_and(|mean| mean.shape() == heads)
    });
    at.check(single, norm, || Why::NotSame { what: "the heads are not the means" })?;
    let members = at.maybe(sum, 0).and_then(|seen| {
        let [block, _, tokens, _] = seen.shape();
        reshaped(at.maybe(gather, 1)?, [block, tokens, 1, 1])
    });
    Ok(claim
        .covering(&[store, mean, sum, gather])
        .operand("cache", at.source(gather, 0)?)
        .maybe("cells", members)
        .operand("rows", at.source(store, 2)?)
        .operand("out", at.result(store, 0)?)
        .float("scale", scale))
}
