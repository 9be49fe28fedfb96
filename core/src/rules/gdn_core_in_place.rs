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
    let copy = at.reader_of_part(net, OpKind::Copy)?;
    let out = at.result(net, 0)?;
    let [dim, heads, tokens, seqs] = at.source(net, 2)?.shape();
    // The copy must take the newest states and nothing else.
    let states = at.source(copy, 0)?;
    let start = out.layout.offset + dim * heads * tokens * seqs * 4;
    let bytes = dim * dim * heads * seqs * 4;
    let newest = states.layout.range() == Some(start..start + bytes) && states.layout.is_packed();
    at.check(newest, copy, || Why::NotSame { what: "the copy does not take the newest states" })?;
    let table = at.source(gather, 0)?;
    let planes = table.layout.elements() / (dim * dim * heads).max(1);
    let pool =
        at.need(reshaped(table, [dim, dim, heads, planes]), gather, || Why::Attr { what: "pool shape" })?;
    let kept = at.result(copy, 0)?;
    let kept = at.need(reshaped(kept, [dim, dim, heads, seqs]), copy, || Why::Attr { what: "pool shape" })?;
    let (claim, _) = gdn_core::core(at, net, &[gather, copy])?;
    Ok(claim
        .operand("state", pool)
        .operand("rows", at.source(gather, 1)?)
        .operand("out", out)
        .operand("state_out", kept))
}
