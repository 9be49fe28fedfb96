//! The norms of q and k, the decay chain, the sigmoid of beta and the delta net become one dispatch.

use super::{Rule, constants, links};
use crate::driver::{Claim, Decline, Site};
use crate::graph::{NodeId, OpKind, Tensor};

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "gdn_core", root: OpKind::GatedDeltaNet, kernel: "gdn_core", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let net = at.root();
    let (claim, _) = core(at, net)?;
    Ok(claim
        .operand("state", at.source(net, 5)?)
        .maybe("segments", at.maybe(net, 6))
        .operand("out", at.result(net, 0)?)
        .maybe("state_out", if at.maybe(net, 6).is_some() { Some(at.result(net, 1)?) } else { None }))
}

/// All of the claim but the state's ports and the result. Also gives the values.
pub(super) fn core(at: &Site<'_, '_>, net: NodeId) -> Result<(Claim, Tensor), Decline> {
    let ([q, k], eps, form) = links::unit_pair(at, net)?;
    let decay = links::decay(at, net, 3)?;
    let (beta, raw) = links::strength(at, net, 4)?;
    let v = at.source(net, 2)?;
    let claim = at
        .claim("gdn_core", &[q, k, beta, net])
        .covering(&decay.nodes)
        .operand("q", at.source(q, 0)?)
        .operand("k", at.source(k, 0)?)
        .operand("v", v)
        .operand("alpha", decay.alpha)
        .operand("dt", decay.dt)
        .operand("a", decay.a)
        .operand("beta", raw)
        .constants(constants(&at.op(net)))
        .float("eps", eps)
        .integer("form", form);
    Ok((claim, v))
}
