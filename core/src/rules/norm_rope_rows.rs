//! `rope(rms_norm(x)·weight)` of all heads, stored as rows of a cache, becomes one dispatch.

use super::Rule;
use super::norm_rope::{self, Turned};
use crate::driver::{Claim, Decline, Site};
use crate::graph::OpKind;

/// The rule.
pub(super) static RULE: Rule =
    Rule { name: "norm_rope_rows", root: OpKind::SetRows, kernel: "norm_rope_rows", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let store = at.root();
    let rope = at.producer(store, 1, OpKind::Rope)?;
    let Turned { claim, x, .. } = norm_rope::turned(at, "norm_rope_rows", rope)?;
    Ok(claim
        .covering(&[store])
        .operand("x", x)
        .operand("rows", at.source(store, 2)?)
        .operand("out", at.result(store, 0)?))
}
