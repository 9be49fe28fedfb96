//! `sum = x + gain·sigmoid(shares)·y; rms_norm(sum)·factor·weight` becomes one dispatch that gives both.

use super::{Rule, constants, links};
use crate::driver::{Claim, Decline, Site, reshaped};
use crate::graph::{BinaryKind, OpKind, Tensor};

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "combine_norm", root: OpKind::RmsNorm, kernel: "combine_norm", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let norm = at.root();
    let sum = at.producer(norm, 0, OpKind::Binary)?;
    let added = at.producer(sum, 1, OpKind::Binary)?;
    at.sides(sum, BinaryKind::Add, added)?;
    let share = at.producer(added, 1, OpKind::Scale)?;
    let (_, y) = at.sides(added, BinaryKind::Mul, share)?;
    let gain = links::factor(at, share)?;
    let (sigmoid, shares) = links::strength(at, share, 0)?;
    let weighted = at.reader(norm, OpKind::Binary)?;
    let (_, weight) = at.sides(weighted, BinaryKind::Mul, norm)?;
    let scaled = at.producer(weighted, weight, OpKind::Scale)?;

    // Streams may stand in one row in the graph, never in the kernel.
    let as_source = |node, index, tensor: Tensor| {
        at.maybe(node, index).map(|t| t.shape()).and_then(|s| reshaped(tensor, s))
    };
    let as_rows = |tensor| as_source(norm, 0, tensor);
    let each = at.maybe(norm, 0).and_then(|t| {
        let [_, streams, tokens, rest] = t.shape();
        reshaped(shares, [1, streams, tokens, rest])
    });
    Ok(at
        .claim("combine_norm", &[added, share, sigmoid, sum, norm, scaled, weighted])
        .maybe("x", as_rows(at.source(sum, 0)?))
        .maybe("y", as_rows(at.source(added, y)?))
        .maybe("shares", each)
        .maybe("weight", as_source(weighted, weight, at.source(scaled, 0)?))
        .maybe("sum", at.made(sum).and_then(as_rows))
        .operand("out", at.result(weighted, 0)?)
        .float("gain", gain)
        .constants(constants(&at.op(norm)))
        .float("factor", links::factor(at, scaled)?))
}
