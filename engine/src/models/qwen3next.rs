//! `qwen3next`: Qwen3-Next and Qwen3-Coder-Next. The value heads of a key head lie together; strength and decay have one
//! matrix, `ssm_ba`; older files have one, `ssm_in`, for the convolved row and the gate.

use super::hybrid::{Hybrid, Layout, Projected};
use super::mixture::Mixture;
use super::network::Network;
use super::{Architecture, Hyper, ModelError};
use crate::gguf::Gguf;
use weft_core::graph::{DType, HeadMap, Op, RopeKind, TensorId, UnaryKind};

struct Qwen3Next {
    hybrid: Hybrid,
    mixture: Mixture,
}

pub(super) fn open(gguf: &Gguf, hyper: &Hyper) -> Result<Box<dyn Architecture>, ModelError> {
    let layout = Layout {
        heads: HeadMap::Grouped,
        rope: RopeKind::Neox,
        sections: [0; 4],
        opening: UnaryKind::Silu,
        project,
    };
    let hybrid = Hybrid::read(gguf, hyper, layout)?;
    Ok(Box::new(Qwen3Next { hybrid, mixture: Mixture::with_shared_expert(gguf, hyper)? }))
}

impl Architecture for Qwen3Next {
    fn build(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        self.hybrid.build(net, |net, x, layer| self.mixture.build(net, x, layer))
    }

    fn draft(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        self.hybrid.draft(net, |net, x, layer| self.mixture.build(net, x, layer))
    }

    fn is_recurrent(&self) -> bool {
        true
    }
}

fn project(hybrid: &Hybrid, net: &mut Network<'_>, x: TensorId, layer: u64) -> Result<Projected, ModelError> {
    let blk = |name: &str| format!("blk.{layer}.{name}");
    let (groups, each) = hybrid.groups();
    let values = groups * each * hybrid.width();
    let (row, z) = if net.has(&blk("ssm_in.weight")) {
        joined(hybrid, net, x, layer)?
    } else {
        let row = net.project(x, &blk("attn_qkv"), hybrid.channels())?;
        (row, net.project(x, &blk("attn_gate"), values)?)
    };
    // Rows per key head: strengths, then decays.
    let both = net.project(x, &blk("ssm_ba"), 2 * groups * each)?;
    let beta = part(net, both, groups, 0..each)?;
    let alpha = part(net, both, groups, each..2 * each)?;
    Ok(Projected { row, z, beta, alpha })
}

/// The convolved row and the gate out of `ssm_in`, whose rows per key head are query, key, values, gates.
fn joined(
    hybrid: &Hybrid,
    net: &mut Network<'_>,
    x: TensorId,
    layer: u64,
) -> Result<(TensorId, TensorId), ModelError> {
    let ((groups, each), width) = (hybrid.groups(), hybrid.width());
    let all = net.project(x, &format!("blk.{layer}.ssm_in"), groups * (2 + 2 * each) * width)?;
    let ends = [0, 1, 2, 2 + each, 2 + 2 * each].map(|heads| heads * width);
    let [q, k, v, z] = std::array::from_fn(|i| part(net, all, groups, ends[i]..ends[i + 1]));
    let keys = net.b.op(Op::Concat { dim: 0 }, &[q?, k?])?;
    Ok((net.b.op(Op::Concat { dim: 0 }, &[keys, v?])?, z?))
}

/// The same part of every group of a row, packed: `[part · groups, tokens]`.
fn part(
    net: &mut Network<'_>,
    row: TensorId,
    groups: u64,
    part: std::ops::Range<u64>,
) -> Result<TensorId, ModelError> {
    let [width, tokens, ..] = net.b.graph().tensor(row).shape();
    let length = part.end - part.start;
    let strides = [4, width / groups * 4, width * 4, width * tokens * 4];
    let slice = net.b.view(row, [length, groups, tokens, 1], strides, part.start * 4)?;
    let packed = net.b.op(Op::Cast { to: DType::F32 }, &[slice])?;
    Ok(net.b.reshape(packed, [length * groups, tokens, 1, 1])?)
}
