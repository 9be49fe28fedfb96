//! Shape and type rules of the operations: what the results of an operation look like, or why its sources are refused.

use super::{DType, GraphError, Layout, Op, OpKind, RopeKind};
use crate::contract::CACHE;
use crate::kernels::sample;
use crate::segment::SEGMENT_WORDS;

/// A result that still needs a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shaped {
    /// Element type.
    pub dtype: DType,
    /// Extents, innermost first.
    pub shape: [u64; 4],
}

/// Where a result of an operation goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placed {
    /// Into fresh, packed storage, or in place of the first source of equal type and shape.
    Fresh(Shaped),
    /// Onto the bytes of the source at this index.
    Onto(usize),
}

const FLOATS: &[DType] = &[DType::F32, DType::F16, DType::BF16];
const INDICES: &[DType] = &[DType::I32, DType::I64];
const F32_ONLY: &[DType] = &[DType::F32];

struct Sources<'a> {
    op: &'static str,
    ports: &'static [super::SourcePort],
    layouts: &'a [Option<Layout>],
}

impl<'a> Sources<'a> {
    fn maybe(&self, index: usize) -> Option<Layout> {
        self.layouts.get(index).copied().flatten()
    }

    fn at(&self, index: usize) -> Result<Layout, GraphError> {
        self.maybe(index).ok_or(GraphError::MissingSource { op: self.op, port: self.ports[index].name })
    }

    fn extent(&self, index: usize, dim: usize, want: u64) -> Result<(), GraphError> {
        let got = self.at(index)?.shape[dim];
        if got == want {
            return Ok(());
        }
        Err(GraphError::Extent { op: self.op, port: self.ports[index].name, dim, got, want })
    }

    fn same_shape(&self, index: usize, shape: [u64; 4]) -> Result<(), GraphError> {
        (0..4).try_for_each(|dim| self.extent(index, dim, shape[dim]))
    }

    /// The source's extent divides `whole`: it can be repeated to it.
    fn repeats(&self, index: usize, dim: usize, whole: u64) -> Result<(), GraphError> {
        let got = self.at(index)?.shape[dim];
        if got > 0 && whole.is_multiple_of(got) {
            return Ok(());
        }
        Err(GraphError::Repeat { op: self.op, port: self.ports[index].name, dim, got, whole })
    }

    fn one_of(&self, index: usize, allowed: &[DType], text: &'static str) -> Result<Layout, GraphError> {
        let layout = self.at(index)?;
        if allowed.contains(&layout.dtype) {
            return Ok(layout);
        }
        Err(GraphError::Type { op: self.op, port: self.ports[index].name, got: layout.dtype, allowed: text })
    }

    fn float(&self, index: usize) -> Result<Layout, GraphError> {
        self.one_of(index, FLOATS, "F32, F16, BF16")
    }

    fn f32(&self, index: usize) -> Result<Layout, GraphError> {
        self.one_of(index, F32_ONLY, "F32")
    }

    fn index(&self, index: usize) -> Result<Layout, GraphError> {
        self.one_of(index, INDICES, "I32, I64")
    }

    fn segments(&self, index: usize) -> Result<(), GraphError> {
        if self.maybe(index).is_some() {
            self.one_of(index, &[DType::I32], "I32")?;
            self.extent(index, 0, SEGMENT_WORDS as u64)?;
        }
        Ok(())
    }

    fn attribute(&self, holds: bool, attribute: &'static str, why: &'static str) -> Result<(), GraphError> {
        if holds { Ok(()) } else { Err(GraphError::Attribute { op: self.op, attribute, why }) }
    }
}

fn fresh(dtype: DType, shape: [u64; 4]) -> Result<Vec<Placed>, GraphError> {
    Ok(vec![Placed::Fresh(Shaped { dtype, shape })])
}

/// The results of an operation on sources of these layouts.
///
/// # Errors
/// A source is missing, or its type or extents do not fit the operation, or an attribute is out of range.
pub fn results(op: &Op, layouts: &[Option<Layout>]) -> Result<Vec<Placed>, GraphError> {
    let signature = op.kind().signature();
    let s = Sources { op: signature.stem, ports: signature.sources, layouts };
    if layouts.len() > s.ports.len() {
        return Err(GraphError::TooManySources { op: s.op, got: layouts.len(), most: s.ports.len() });
    }
    for (index, port) in s.ports.iter().enumerate() {
        if !port.optional {
            s.at(index)?;
        }
    }
    match op {
        Op::View | Op::Fill { .. } => same_as_first(&s),
        Op::Cast { to } => fresh(*to, s.at(0)?.shape),
        Op::Copy => {
            let target = s.at(1)?;
            if s.at(0)?.elements() != target.elements() {
                s.same_shape(0, target.shape)?;
            }
            Ok(vec![Placed::Onto(1)])
        }
        Op::GetRows => get_rows(&s),
        Op::SetRows => set_rows(&s),
        Op::Concat { dim } => concat(&s, *dim as usize),
        Op::Repeat => {
            let (x, like) = (s.float(0)?, s.at(1)?);
            (0..4).try_for_each(|dim| s.repeats(0, dim, like.shape[dim]))?;
            fresh(x.dtype, like.shape)
        }
        Op::MulMat => mul_mat(&s),
        Op::MulMatId => mul_mat_id(&s),
        Op::RmsNorm { eps } | Op::L2Norm { eps, .. } => {
            s.attribute(eps.is_finite() && *eps >= 0.0, "eps", "it must be finite and not negative")?;
            fresh(DType::F32, s.float(0)?.shape)
        }
        Op::Binary { .. } => {
            let a = s.float(0)?;
            s.float(1)?;
            (0..4).try_for_each(|dim| s.repeats(1, dim, a.shape[dim]))?;
            fresh(a.dtype, a.shape)
        }
        Op::Scale { .. } | Op::Unary { .. } | Op::Clamp { .. } => {
            s.float(0)?;
            same_as_first(&s)
        }
        Op::Swiglu => {
            let gate = s.float(0)?;
            s.float(1)?;
            s.same_shape(1, gate.shape)?;
            fresh(gate.dtype, gate.shape)
        }
        Op::Rope(_) => rope(op, &s),
        Op::Softmax { .. } => {
            let x = s.f32(0)?;
            if s.maybe(1).is_some() {
                s.float(1)?;
                s.extent(1, 0, x.shape[0])?;
                (2..4).try_for_each(|dim| s.repeats(1, dim, x.shape[dim]))?;
            }
            same_as_first(&s)
        }
        Op::FlashAttention { .. } => attention(&s),
        Op::BlockScores { block } => block_scores(&s, *block),
        Op::BlockAttention { block, .. } => block_attention(&s, *block),
        Op::SsmConv { dilation } => conv(&s, *dilation),
        Op::ConvHistory => {
            let x = s.f32(0)?;
            s.f32(1)?;
            s.extent(1, 1, x.shape[0])?;
            s.segments(2)?;
            Ok(vec![Placed::Onto(1)])
        }
        Op::GatedDeltaNet { snapshots, .. } => delta_net(&s, u64::from(*snapshots)),
        Op::TopK { k } => {
            let mut shape = s.f32(0)?.shape;
            s.attribute(
                *k >= 1 && u64::from(*k) <= shape[0],
                "k",
                "it must lie between 1 and the row length",
            )?;
            shape[0] = u64::from(*k);
            fresh(DType::I32, shape)
        }
        Op::Argsort { .. } => fresh(DType::I32, s.f32(0)?.shape),
        Op::SumRows => {
            let x = s.float(0)?;
            fresh(DType::F32, [1, x.shape[1], x.shape[2], x.shape[3]])
        }
        Op::CumSum => fresh(DType::F32, s.f32(0)?.shape),
        Op::Tri { .. } => {
            let x = s.f32(0)?;
            s.extent(0, 1, x.shape[0])?;
            same_as_first(&s)
        }
        Op::SolveTri => {
            let (a, b) = (s.f32(0)?, s.f32(1)?);
            s.extent(0, 1, a.shape[0])?;
            s.extent(1, 1, a.shape[0])?;
            (2..4).try_for_each(|dim| s.extent(1, dim, a.shape[dim]))?;
            fresh(DType::F32, b.shape)
        }
        Op::Diag => {
            let x = s.f32(0)?;
            s.extent(0, 1, 1)?;
            fresh(DType::F32, [x.shape[0], x.shape[0], x.shape[2], x.shape[3]])
        }
        Op::Sample => {
            let rows = s.f32(0)?.shape[1];
            s.one_of(1, &[DType::I32], "I32")?;
            (2..4).try_for_each(|dim| s.extent(0, dim, 1))?;
            s.same_shape(1, [sample::WORDS as u64, rows, 1, 1])?;
            fresh(DType::I32, [2, rows, 1, 1])
        }
    }
}

fn same_as_first(s: &Sources<'_>) -> Result<Vec<Placed>, GraphError> {
    let x = s.at(0)?;
    fresh(x.dtype, x.shape)
}

fn get_rows(s: &Sources<'_>) -> Result<Vec<Placed>, GraphError> {
    let (table, rows) = (s.at(0)?, s.index(1)?);
    s.extent(1, 3, 1)?;
    s.extent(0, 2, rows.shape[1])?;
    s.extent(0, 3, rows.shape[2])?;
    let dtype = if table.dtype == DType::I32 { DType::I32 } else { DType::F32 };
    fresh(dtype, [table.shape[0], rows.shape[0], rows.shape[1], rows.shape[2]])
}

fn set_rows(s: &Sources<'_>) -> Result<Vec<Placed>, GraphError> {
    let (target, x) = (s.at(0)?, s.float(1)?);
    s.index(2)?;
    s.extent(1, 0, target.shape[0])?;
    s.extent(2, 0, x.shape[1])?;
    for dim in 2..4 {
        s.extent(1, dim, target.shape[dim])?;
        s.repeats(2, dim - 1, x.shape[dim])?;
    }
    Ok(vec![Placed::Onto(0)])
}

fn concat(s: &Sources<'_>, dim: usize) -> Result<Vec<Placed>, GraphError> {
    let (a, b) = (s.at(0)?, s.at(1)?);
    s.attribute(dim < 4, "dim", "it must lie between 0 and 3")?;
    if b.dtype != a.dtype {
        return Err(GraphError::Type { op: s.op, port: "b", got: b.dtype, allowed: "the type of `a`" });
    }
    (0..4).filter(|d| *d != dim).try_for_each(|d| s.extent(1, d, a.shape[d]))?;
    let mut shape = a.shape;
    shape[dim] = shape[dim].saturating_add(b.shape[dim]);
    fresh(a.dtype, shape)
}

fn mul_mat(s: &Sources<'_>) -> Result<Vec<Placed>, GraphError> {
    let (weight, x) = (s.at(0)?, s.float(1)?);
    s.extent(1, 0, weight.shape[0])?;
    (2..4).try_for_each(|dim| s.repeats(0, dim, x.shape[dim]))?;
    fresh(DType::F32, [weight.shape[1], x.shape[1], x.shape[2], x.shape[3]])
}

fn mul_mat_id(s: &Sources<'_>) -> Result<Vec<Placed>, GraphError> {
    let (weight, ids) = (s.at(0)?, s.one_of(2, &[DType::I32], "I32")?);
    s.float(1)?;
    s.extent(1, 0, weight.shape[0])?;
    s.repeats(1, 1, ids.shape[0])?;
    s.extent(1, 2, ids.shape[1])?;
    s.extent(0, 3, 1)?;
    fresh(DType::F32, [weight.shape[1], ids.shape[0], ids.shape[1], 1])
}

fn rope(op: &Op, s: &Sources<'_>) -> Result<Vec<Placed>, GraphError> {
    let Op::Rope(rope) = op else { return same_as_first(s) };
    let x = s.float(0)?;
    s.one_of(1, &[DType::I32], "I32")?;
    let per_token = if rope.kind == RopeKind::MultiSection { 4 } else { 1 };
    s.extent(1, 0, x.shape[2].saturating_mul(per_token))?;
    let dims = u64::from(rope.dims);
    s.attribute(
        dims.is_multiple_of(2) && dims <= x.shape[0],
        "dims",
        "it must be even and at most the head size",
    )?;
    let sections: u32 = rope.sections.iter().fold(0, |n, s| n.saturating_add(*s));
    s.attribute(
        rope.kind != RopeKind::MultiSection || sections > 0,
        "sections",
        "a multi-section embedding needs at least one section",
    )?;
    if s.maybe(2).is_some() {
        s.f32(2)?;
        s.extent(2, 0, dims / 2)?;
    }
    same_as_first(s)
}

/// Queries, keys and values that fit each other.
fn queries(s: &Sources<'_>) -> Result<[Layout; 3], GraphError> {
    const ALLOWED: &str = "F32, F16, BF16, Q8_0, Q4_0";
    let q = s.f32(0)?;
    let (k, v) = (s.one_of(1, CACHE, ALLOWED)?, s.one_of(2, CACHE, ALLOWED)?);
    s.extent(1, 0, q.shape[0])?;
    s.repeats(1, 2, q.shape[2])?;
    s.extent(2, 1, k.shape[1])?;
    s.extent(2, 2, k.shape[2])?;
    s.extent(2, 3, k.shape[3])?;
    Ok([q, k, v])
}

fn attention(s: &Sources<'_>) -> Result<Vec<Placed>, GraphError> {
    let [q, k, v] = queries(s)?;
    if s.maybe(5).is_none() {
        s.extent(1, 3, q.shape[3])?;
    }
    if let Some(mask) = s.maybe(3) {
        s.float(3)?;
        s.extent(3, 0, k.shape[1])?;
        if mask.shape[1] < q.shape[1] {
            s.extent(3, 1, q.shape[1])?;
        }
        s.repeats(3, 2, q.shape[2])?;
        s.repeats(3, 3, q.shape[3])?;
    }
    if s.maybe(4).is_some() {
        s.f32(4)?;
        s.extent(4, 0, q.shape[2])?;
    }
    s.segments(5)?;
    fresh(DType::F32, [v.shape[0], q.shape[2], q.shape[1], q.shape[3]])
}

fn block_scores(s: &Sources<'_>, block: u32) -> Result<Vec<Placed>, GraphError> {
    let (q, keys) = (s.f32(0)?, s.float(1)?);
    s.attribute(block >= 1, "block", "it must be at least 1")?;
    s.extent(0, 3, 1)?;
    s.extent(1, 0, q.shape[0])?;
    s.extent(1, 3, 1)?;
    s.segments(2)?;
    fresh(DType::F32, [keys.shape[1], q.shape[2], 1, 1])
}

fn block_attention(s: &Sources<'_>, block: u32) -> Result<Vec<Placed>, GraphError> {
    let [q, _, v] = queries(s)?;
    s.attribute(block >= 1, "block", "it must be at least 1")?;
    s.extent(0, 3, 1)?;
    s.one_of(3, &[DType::I32], "I32")?;
    s.extent(3, 1, q.shape[1])?;
    (2..4).try_for_each(|dim| s.extent(3, dim, 1))?;
    s.segments(4)?;
    fresh(DType::F32, [v.shape[0], q.shape[2], q.shape[1], 1])
}

fn conv(s: &Sources<'_>, dilation: u32) -> Result<Vec<Placed>, GraphError> {
    let (x, weight) = (s.f32(0)?, s.float(1)?);
    s.attribute(dilation >= 1, "dilation", "it must be at least 1")?;
    let reach = weight.shape[0].saturating_sub(1).saturating_mul(u64::from(dilation));
    if s.maybe(2).is_none() {
        s.extent(1, 1, x.shape[1])?;
        s.attribute(x.shape[0] > reach, "x", "it must hold the history and at least one token")?;
        return fresh(DType::F32, [x.shape[1], x.shape[0] - reach, x.shape[2], 1]);
    }
    s.f32(2)?;
    s.extent(1, 1, x.shape[0])?;
    let history = s.at(2)?;
    s.attribute(history.shape[0] >= reach, "history", "it must reach as far back as the taps")?;
    s.extent(2, 1, x.shape[0])?;
    s.at(3)?;
    s.segments(3)?;
    same_as_first(s)
}

fn delta_net(s: &Sources<'_>, snapshots: u64) -> Result<Vec<Placed>, GraphError> {
    let (q, v, gate, state) = (s.f32(0)?, s.f32(2)?, s.f32(3)?, s.f32(5)?);
    let [dim, heads, tokens, seqs] = v.shape;
    s.f32(1)?;
    s.f32(4)?;
    s.attribute(snapshots >= 1, "snapshots", "it must be at least 1")?;
    s.extent(0, 0, dim)?;
    s.same_shape(1, q.shape)?;
    s.repeats(0, 1, heads)?;
    s.extent(0, 2, tokens)?;
    s.repeats(0, 3, seqs)?;
    if gate.shape[0] != 1 {
        s.extent(3, 0, dim)?;
    }
    s.extent(4, 0, 1)?;
    for index in [3, 4] {
        s.extent(index, 1, heads)?;
        s.extent(index, 2, tokens)?;
        s.extent(index, 3, seqs)?;
    }
    (0..2).try_for_each(|d| s.extent(5, d, dim))?;
    s.extent(5, 2, heads)?;
    if s.maybe(6).is_none() {
        s.extent(5, 3, seqs)?;
        let rows =
            tokens.saturating_mul(seqs).saturating_add(snapshots.saturating_mul(dim).saturating_mul(seqs));
        return fresh(DType::F32, [dim.saturating_mul(heads), rows, 1, 1]);
    }
    s.segments(6)?;
    s.attribute(
        state.shape[3].is_multiple_of(snapshots),
        "snapshots",
        "the state pool must hold K planes per slot",
    )?;
    Ok(vec![Placed::Fresh(Shaped { dtype: DType::F32, shape: v.shape }), Placed::Onto(5)])
}

/// Which operations may write their result over their first source.
pub const fn may_be_in_place(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Scale
            | OpKind::Unary
            | OpKind::Binary
            | OpKind::Clamp
            | OpKind::Rope
            | OpKind::Swiglu
            | OpKind::RmsNorm
            | OpKind::L2Norm
            | OpKind::Softmax
            | OpKind::Tri
            | OpKind::CumSum
            | OpKind::Fill
    )
}
