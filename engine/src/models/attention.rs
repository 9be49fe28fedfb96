//! Attention over cached keys and values, as every architecture here does it.

use super::ModelError;
use super::network::Network;
use weft_core::graph::{DType, Op, Rope, RopeKind, TensorId};

/// Queries, keys and values of one layer after projection, `[head width, heads, tokens]` each.
pub(super) struct Heads {
    pub q: TensorId,
    pub k: TensorId,
    pub v: TensorId,
}

impl Network<'_> {
    /// The rotary embedding of the model, with this pairing and these sections.
    pub(super) fn rope(&self, kind: RopeKind, sections: [u32; 4]) -> Op {
        let hyper = self.hyper;
        Op::Rope(Rope {
            kind,
            dims: hyper.rope_dims as u32,
            base: hyper.rope_base,
            scale: hyper.rope_scale,
            sections,
            yarn_mix: hyper.yarn.0,
            yarn_context: hyper.yarn.1,
            magnitude: hyper.yarn.2,
        })
    }

    /// Applies a rotary embedding to `[head width, heads, tokens]`.
    pub(super) fn rotate(
        &mut self,
        x: TensorId,
        rope: Op,
        divisors: Option<TensorId>,
    ) -> Result<TensorId, ModelError> {
        let axes = if matches!(rope, Op::Rope(Rope { kind: RopeKind::MultiSection, .. })) { 4 } else { 1 };
        let positions = self.positions(axes)?;
        let made = self.b.apply(rope, &[Some(x), Some(positions), divisors])?;
        Ok(made[0])
    }

    /// `[width·heads, tokens]` as `[width, heads, tokens]`.
    pub(super) fn by_head(&mut self, x: TensorId, width: u64, heads: u64) -> Result<TensorId, ModelError> {
        Ok(self.b.reshape(x, [width, heads, self.batch.tokens, 1])?)
    }

    /// Stores keys and values, attends, and gives `[value width, heads, tokens]`.
    pub(super) fn attend(&mut self, heads: &Heads, layer: u64) -> Result<TensorId, ModelError> {
        let [q, keys, values] = self.store(heads, layer)?;
        self.attend_to(q, keys, values, None, layer)
    }

    /// Stores keys and values. Gives what attention takes: `[width, tokens, heads]` of queries, `[width, cells, heads, slots]`
    /// of keys and of values.
    pub(super) fn store(&mut self, heads: &Heads, layer: u64) -> Result<[TensorId; 3], ModelError> {
        let hyper = self.hyper;
        let types = self.batch.cache;
        let keys = self.cached(heads.k, &format!("cache.k.{layer}"), (types.keys, hyper.key_length))?;
        let values = self.cached(heads.v, &format!("cache.v.{layer}"), (types.values, hyper.value_length))?;
        Ok([self.b.permute(heads.q, [0, 2, 1, 3])?, keys, values])
    }

    /// Attends to all cells that segments see, or those that a mask leaves of them.
    pub(super) fn attend_to(
        &mut self,
        q: TensorId,
        keys: TensorId,
        values: TensorId,
        mask: Option<TensorId>,
        layer: u64,
    ) -> Result<TensorId, ModelError> {
        let segments = self.segments()?;
        let op = Op::FlashAttention { scale: self.hyper.attention_scale };
        let made = self.b.apply(op, &[Some(q), Some(keys), Some(values), mask, None, Some(segments)])?;
        self.b.label(&format!("blk.{layer}.attention"));
        Ok(made[0])
    }

    /// Writes `[width, heads, tokens]` to a cache of this type and width and gives the whole cache as `[width, cells, heads, slots]`.
    fn cached(
        &mut self,
        x: TensorId,
        name: &str,
        (dtype, width): (DType, u64),
    ) -> Result<TensorId, ModelError> {
        let (heads, tokens, batch) = (self.hyper.kv_heads, self.batch.tokens, self.batch);
        let row = width * heads;
        let state = self.b.state(name, dtype, &[row, batch.cells * batch.slots])?;
        let rows = self.cache_rows()?;
        let flat = self.b.reshape(x, [row, tokens, 1, 1])?;
        let written = self.b.op(Op::SetRows, &[state, flat, rows])?;
        let whole = self.b.reshape(written, [width, heads, batch.cells, batch.slots])?;
        Ok(self.b.permute(whole, [0, 2, 1, 3])?)
    }
}
