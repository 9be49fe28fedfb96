//! `gdn_core` with its state in a pool: the gather of the old states and the copy of the new ones join the dispatch.

use super::{Rule, gdn_core};
use crate::driver::{Claim, Decline, Site, Why, reshaped};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "gdn_core_in_place", root: OpKind::GatedDeltaNet, kernel: "gdn_core", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let net = at.root();
    at.no_source(net, 6)?;
    let gather = at.producer(net, 5, OpKind::GetRows)?;
    let (claim, v) = gdn_core::core(at, net)?;
    let out = at.result(net, 0)?;
    let copy = at.reader_of_part(net, OpKind::Copy)?;
    let [dim, heads, tokens, seqs] = v.shape();
    // The copy must take the newest states, in their order, and nothing else.
    let start = out.layout.offset + dim * heads * tokens * seqs * 4;
    let bytes = dim * dim * heads * seqs * 4;
    let newest = at.maybe(copy, 0).is_some_and(|states| {
        states.layout.range() == Some(start..start + bytes)
            && reshaped(states, [bytes / 4, 1, 1, 1]).is_some()
    });
    at.check(newest, copy, || Why::NotSame { what: "the copy does not take the newest states" })?;
    let table = at.source(gather, 0)?;
    let planes = table.layout.elements() / (dim * dim * heads).max(1);
    let pool =
        at.need(reshaped(table, [dim, dim, heads, planes]), gather, || Why::Attr { what: "pool shape" })?;
    let kept = at.made(copy).and_then(|kept| reshaped(kept, [dim, dim, heads, seqs]));
    let kept = at.need(kept, copy, || Why::Attr { what: "pool shape" })?;
    Ok(claim
        .covering(&[gather, copy])
        .operand("state", pool)
        .operand("rows", at.source(gather, 1)?)
        .operand("out", out)
        .operand("state_out", kept))
}
