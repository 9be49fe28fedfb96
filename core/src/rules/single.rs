//! One node, by the kernel of its operation. It binds every source and result by its port's name and has no opinion.

use super::Rule;
use crate::contract::Constants;
use crate::driver::{Claim, Decline, Site};
use crate::graph::{HeadMap, L2Form, Op, OpKind, RopeKind, Triangle, Use};

/// The rule. Its root is nominal: the driver offers it every node.
pub(super) const RULE: Rule = Rule { name: "single", root: OpKind::View, kernel: "", find };

fn find(at: &Site<'_, '_>) -> Result<Claim, Decline> {
    let node = at.root();
    let op = at.op(node);
    let signature = op.kind().signature();
    let mut claim = at.claim(signature.stem, &[node]).constants(constants(&op));
    for (index, port) in signature.sources.iter().enumerate() {
        if port.usage == Use::Read {
            claim = claim.maybe(port.name, at.maybe(node, index));
        }
    }
    for (index, name) in signature.results.iter().enumerate() {
        claim = claim.maybe(name, at.result(node, index).ok());
    }
    Ok(claim)
}

/// The constants that an operation's attributes give its kernel.
pub fn constants(op: &Op) -> Constants {
    let c = Constants::new();
    match *op {
        Op::View
        | Op::GetRows
        | Op::SetRows
        | Op::Copy
        | Op::Cast { .. }
        | Op::Repeat
        | Op::MulMat
        | Op::MulMatId
        | Op::ConvHistory
        | Op::SumRows
        | Op::CumSum
        | Op::SolveTri
        | Op::Diag
        | Op::Sample => c,
        Op::Fill { value } => c.float("value", value),
        Op::Concat { dim } => c.integer("dim", dim),
        Op::RmsNorm { eps } => c.float("eps", eps),
        Op::L2Norm { eps, form } => c.float("eps", eps).integer("form", l2_form(form)),
        Op::Binary { kind } => c.integer("kind", kind as u32),
        Op::Scale { scale, bias } => c.float("scale", scale).float("bias", bias),
        Op::Unary { kind } => c.integer("kind", kind as u32),
        Op::Swiglu => c.integer("kind", 0),
        Op::Rope(rope) => {
            let kind = match rope.kind {
                RopeKind::Interleaved => 0,
                RopeKind::Neox => 1,
                RopeKind::MultiSection => 2,
            };
            let [t, h, w, e] = rope.sections;
            c.integer("kind", kind)
                .integer("dims", rope.dims)
                .float("base", rope.base)
                .float("frequency_scale", rope.scale)
                .float("yarn_mix", rope.yarn_mix)
                .integer("yarn_context", rope.yarn_context)
                .float("magnitude", rope.magnitude)
                .integer("section_t", t)
                .integer("section_h", h)
                .integer("section_w", w)
                .integer("section_e", e)
        }
        Op::Softmax { scale } | Op::FlashAttention { scale } => c.float("scale", scale),
        Op::BlockScores { block } => c.integer("block", block),
        Op::BlockAttention { scale, block } => c.float("scale", scale).integer("block", block),
        Op::SsmConv { dilation } => c.integer("dilation", dilation),
        Op::GatedDeltaNet { snapshots, heads } => {
            c.integer("snapshots", snapshots).integer("heads", head_map(heads))
        }
        Op::TopK { k } => c.integer("k", k),
        Op::Argsort { descending } => c.integer("descending", u32::from(descending)),
        Op::Tri { keep } => c.integer(
            "keep",
            match keep {
                Triangle::Lower => 0,
                Triangle::LowerDiagonal => 1,
                Triangle::Upper => 2,
                Triangle::UpperDiagonal => 3,
            },
        ),
        Op::Clamp { min, max } => c.float("min", min).float("max", max),
    }
}

/// The discriminant of a norm's form.
pub(super) fn l2_form(form: L2Form) -> u32 {
    match form {
        L2Form::MaxEps => 0,
        L2Form::SumEps => 1,
    }
}

/// The discriminant of a head map.
pub(super) fn head_map(heads: HeadMap) -> u32 {
    match heads {
        HeadMap::Tiled => 0,
        HeadMap::Grouped => 1,
    }
}
