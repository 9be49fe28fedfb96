//! The norms of q and k, the decay chain, the sigmoid of beta and the delta net become one dispatch.

use super::{Rule, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::{NodeId, OpKind};

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "gdn_core", root: OpKind::GatedDeltaNet, kernel: "gdn_core", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let net = at.root();
    let (claim, _) = core(at, net, &[])?;
    Ok(claim
        .operand("state", at.source(net, 5)?)
        .maybe("segments", at.maybe(net, 6))
        .operand("out", at.result(net, 0)?)
        .maybe("state_out", if at.maybe(net, 6).is_some() { Some(at.result(net, 1)?) } else { None }))
}

/// All of the claim but the state's ports and the result.
pub(super) fn core(at: &Site<'_, '_>, net: NodeId, more: &[NodeId]) -> Result<(Claim, u32), Decline> {
    let ([q, k], eps, form) = links::unit_pair(at, net)?;
    let decay = links::decay(at, net, 3)?;
    let (beta, raw) = links::strength(at, net, 4)?;
    let (snapshots, heads) = links::delta(at, net)?;
    let mut nodes = vec![q, k, beta, net];
    nodes.extend(decay.nodes);
    nodes.extend(more);
    let claim = at
        .claim("gdn_core", &nodes)
        .operand("q", at.source(q, 0)?)
        .operand("k", at.source(k, 0)?)
        .operand("v", at.source(net, 2)?)
        .operand("alpha", decay.alpha)
        .operand("dt", decay.dt)
        .operand("a", decay.a)
        .operand("beta", raw)
        .integer("snapshots", snapshots)
        .integer("heads", heads)
        .float("eps", eps)
        .integer("form", form);
    Ok((claim, snapshots))
}
