//! The choice of experts: softmax, the k largest, their shares made to sum to one.

use super::Rule;
use crate::driver::{Claim, Decline, Site, Why};
use crate::graph::{BinaryKind, Op, OpKind};

/// The rule.
pub(super) static RULE: Rule = Rule { name: "router", root: OpKind::TopK, kernel: "router", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let top = at.root();
    let softmax = at.producer(top, 0, OpKind::Softmax)?;
    at.no_source(softmax, 1)?;
    let gather = at.reader(softmax, OpKind::GetRows)?;
    let chosen = at.producer(gather, 1, OpKind::TopK)?;
    let quotient = at.reader(gather, OpKind::Binary)?;
    let least = at.producer(quotient, 1, OpKind::Clamp)?;
    let sum = at.producer(least, 0, OpKind::SumRows)?;
    let shares = at.producer(sum, 0, OpKind::GetRows)?;
    at.sides(quotient, BinaryKind::Div, gather)?;
    let attributes = match [top, softmax, least].map(|node| at.op(node)) {
        [Op::TopK { k }, Op::Softmax { scale }, Op::Clamp { min, max: f32::INFINITY }] => {
            Some((k, scale, min))
        }
        _ => None,
    };
    let (k, scale, bound) = at.need(attributes, least, || Why::Attr { what: "max" })?;
    // A row of the table is one number, a row of the sum one token's numbers.
    let logits = at.source(softmax, 0)?;
    let [experts, tokens, ..] = logits.shape();
    let has = |node, shape| at.maybe(node, 0).is_some_and(|tensor| tensor.shape() == shape);
    let shapes = has(gather, [1, experts, tokens, 1]) && has(sum, [u64::from(k), tokens, 1, 1]);
    at.check(chosen == top && shares == gather && shapes, gather, || Why::NotSame {
        what: "the shares are not those of the choice",
    })?;
    Ok(at
        .claim("router", &[softmax, top, gather, sum, least, quotient])
        .operand("logits", logits)
        .maybe("ids", at.made(top))
        .operand("weights", at.result(quotient, 0)?)
        .integer("k", k)
        .float("scale", scale)
        .float("least", bound))
}
