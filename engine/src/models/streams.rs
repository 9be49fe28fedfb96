//! Hyper-connections: several residual streams, which a mix reads as one and a combination writes back to.
//!
//! They take the place of residual sums and of all norms between layers. The streams of a token lie one after the other,
//! `[streams · embedding, tokens]`.

use super::network::Network;
use super::{Hyper, ModelError};
use crate::gguf::Gguf;
use weft_core::graph::{DType, Op, TensorId, UnaryKind};

/// Sizes of hyper-connections.
pub(super) struct Streams {
    count: u64,
    rank: u64,
    width: u64,
}

/// What a layer gets from the streams.
pub(super) struct Mixed {
    /// The layer's input, `[embedding, tokens]`.
    pub x: TensorId,
    /// How much of its output goes to each stream, `[streams, tokens]`, as projected: a share is twice its sigmoid.
    pub shares: TensorId,
}

impl Streams {
    /// Most streams: products of extents stay small enough.
    const MOST: u64 = 64;

    /// Reads their keys.
    ///
    /// # Errors
    /// [`ModelError::Gguf`] if a key is missing or wrong, [`ModelError::Unfit`] if a number is out of range.
    pub fn read(gguf: &Gguf, hyper: &Hyper) -> Result<Self, ModelError> {
        let number = |name: &str| gguf.get_u32(&format!("{}.{name}", hyper.architecture)).map(u64::from);
        let count = number("hyper_connection.count")?;
        if !(2..=Self::MOST).contains(&count) {
            return Err(ModelError::unfit(gguf, "hyper_connection.count", "it must lie between 2 and 64"));
        }
        let rank = number("hyper_connection.low_rank")?;
        if rank == 0 {
            return Err(ModelError::unfit(gguf, "hyper_connection.low_rank", "it must be greater than 0"));
        }
        Ok(Streams { count, rank, width: hyper.embedding })
    }

    /// Values of a token in all streams.
    pub fn values(&self) -> u64 {
        self.count * self.width
    }

    /// Each stream by itself: `[embedding, streams, tokens]`.
    pub fn apart(&self, net: &mut Network<'_>, x: TensorId) -> Result<TensorId, ModelError> {
        let tokens = net.columns(x);
        Ok(net.b.reshape(x, [self.width, self.count, tokens, 1])?)
    }

    /// All streams of a token as one row: `[streams · embedding, tokens]`.
    pub fn joined(&self, net: &mut Network<'_>, x: TensorId) -> Result<TensorId, ModelError> {
        let tokens = net.b.graph().tensor(x).shape()[2];
        Ok(net.b.reshape(x, [self.values(), tokens, 1, 1])?)
    }

    /// `[embedding, tokens]` seen once for each stream.
    pub fn shown(&self, net: &mut Network<'_>, x: TensorId) -> Result<TensorId, ModelError> {
        let (row, tokens) = (self.width * 4, net.columns(x));
        Ok(net.b.view(x, [self.width, self.count, tokens, 1], [4, 0, row, row * tokens], 0)?)
    }

    /// The streams of a model's start: `[embedding, tokens]` in each of them.
    pub fn begin(&self, net: &mut Network<'_>, x: TensorId) -> Result<TensorId, ModelError> {
        let shown = self.shown(net, x)?;
        let copied = net.b.op(Op::Cast { to: DType::F32 }, &[shown])?;
        self.joined(net, copied)
    }

    /// Norms each stream of `[embedding, streams, tokens]` with its part of a weight.
    pub fn norm(&self, net: &mut Network<'_>, x: TensorId, name: &str) -> Result<TensorId, ModelError> {
        let weight = net.vector(name, self.values())?;
        self.norm_by(net, x, weight)
    }

    fn norm_by(&self, net: &mut Network<'_>, x: TensorId, weight: TensorId) -> Result<TensorId, ModelError> {
        let weight = net.b.reshape(weight, [self.width, self.count, 1, 1])?;
        Ok(net.b.rms_norm(x, weight, net.hyper.eps)?)
    }

    /// One row of all streams, by the weights whose names begin with `name`: `Σ gate ⊙ n`, with `n = norm(x)/count` and
    /// `gate = sigmoid(up·silu(down·n))`. Also gives n, the streams of a token as one row.
    fn mix(
        &self,
        net: &mut Network<'_>,
        x: TensorId,
        name: &str,
    ) -> Result<(TensorId, TensorId), ModelError> {
        let tokens = net.columns(x);
        let streams = self.apart(net, x)?;
        // All that reads the norms wants them divided: so is the weight, once.
        let weight = net.vector(&format!("{name}_norm.weight"), self.values())?;
        let weight = net.scale(weight, 1.0 / self.count as f32)?;
        let normed = self.norm_by(net, streams, weight)?;
        let row = self.joined(net, normed)?;
        let low = net.project(row, &format!("{name}_down"), self.rank)?;
        let low = net.unary(UnaryKind::Silu, low)?;
        let gate = net.project(low, &format!("{name}_up"), self.values())?;
        let gate = net.unary(UnaryKind::Sigmoid, gate)?;
        let gate = self.apart(net, gate)?;
        let gated = net.b.mul(normed, gate)?;
        let across = net.b.permute(gated, [1, 0, 2, 3])?;
        let sum = net.b.op(Op::SumRows, &[across])?;
        Ok((net.b.reshape(sum, [self.width, tokens, 1, 1])?, row))
    }

    /// What a layer gets, by the weights whose names begin with `name`.
    ///
    /// # Errors
    /// A tensor is missing or has another shape than the metadata says.
    pub fn enter(&self, net: &mut Network<'_>, x: TensorId, name: &str) -> Result<Mixed, ModelError> {
        let (mixed, row) = self.mix(net, x, name)?;
        net.b.label(name);
        Ok(Mixed { x: mixed, shares: net.project(row, &format!("{name}_inject"), self.count)? })
    }

    /// `x + 2·sigmoid(share)·y` in each stream, for a layer's output y.
    pub fn combine(
        &self,
        net: &mut Network<'_>,
        x: TensorId,
        y: TensorId,
        shares: TensorId,
    ) -> Result<TensorId, ModelError> {
        let tokens = net.columns(x);
        let shown = self.shown(net, y)?;
        let shares = net.unary(UnaryKind::Sigmoid, shares)?;
        let shares = net.scale(shares, 2.0)?;
        let shares = net.b.reshape(shares, [1, self.count, tokens, 1])?;
        let added = net.b.mul(shown, shares)?;
        let added = self.joined(net, added)?;
        net.add(x, added)
    }

    /// The row that the output head reads.
    ///
    /// # Errors
    /// As [`Streams::enter`].
    pub fn leave(&self, net: &mut Network<'_>, x: TensorId) -> Result<TensorId, ModelError> {
        Ok(self.mix(net, x, "output_hc")?.0)
    }
}
