//! Attention that chooses blocks of its cache: an indexer scores blocks by one key each, and every token attends to the
//! cells of the best ones and to those behind its last whole block.
//!
//! Beside keys and values a layer caches a raw index key for each token and a pooled one for each whole block: the mean of
//! its raw keys, normed and rotated to the position of its first token. A ubatch pools the blocks that it completes; the
//! rest of the work for a token, but for the scores, does not grow with the context.

mod masks;

use super::attention::Heads;
use super::network::Network;
use super::{HostInputs, Hyper, ModelError, Run, SparseForm, names};
use crate::gguf::Gguf;
use weft_core::graph::{DType, Op, TensorId};

/// Sizes of the indexer, and the layers that have one.
pub(super) struct Selection {
    layers: Vec<bool>,
    /// Tokens of a block.
    block: u64,
    /// Blocks that a token attends to.
    budget: u64,
    heads: u64,
    width: u64,
}

impl Selection {
    /// Reads the keys; `None` where no layer chooses.
    ///
    /// # Errors
    /// [`ModelError::Gguf`] if a key is missing or wrong, [`ModelError::Unfit`] if values contradict each other.
    pub fn read(
        gguf: &Gguf,
        hyper: &Hyper,
        is_recurrent: impl Fn(u64) -> bool,
    ) -> Result<Option<Self>, ModelError> {
        let key = |name: &str| format!("{}.attention.{name}", hyper.architecture);
        let unfit = |what: &str, why: &str| Err(ModelError::unfit(gguf, what, why));
        const RATIOS: &str = "attention.compress_ratios";
        let ratios: Vec<u32> = gguf.find(&key("compress_ratios"))?.unwrap_or_default();
        let Some(block) = ratios.iter().copied().find(|ratio| *ratio > 0) else {
            if gguf.tensors().iter().any(|tensor| tensor.name.contains(".indexer.")) {
                tracing::warn!(
                    file = gguf.file(),
                    "the file has indexer tensors, but {RATIOS} is missing or all zero: every layer attends to all tokens, \
                     which is wrong beyond attention.indexer.top_k of them; convert the model anew"
                );
            }
            return Ok(None);
        };
        let blocks = u64::from(gguf.get_u32(&format!("{}.block_count", hyper.architecture))?);
        if ![hyper.layers, blocks].contains(&(ratios.len() as u64)) {
            return unfit(RATIOS, "it must hold a number for each block of block_count");
        }
        if block < 2 || ratios.iter().any(|ratio| ![0, block].contains(ratio)) {
            return unfit(RATIOS, "all numbers but zeros must be equal, and 2 at least");
        }
        let layers: Vec<bool> = ratios.iter().map(|ratio| *ratio > 0).collect();
        if (0..hyper.layers).any(|layer| layers[layer as usize] && is_recurrent(layer)) {
            return unfit(RATIOS, "it must be zero on recurrent layers");
        }
        let number = |name: &str| gguf.get_u32(&key(&format!("indexer.{name}")));
        let (heads, width, top) = (number("head_count")?, number("key_length")?, number("top_k")?);
        if !(1..=1 << 10).contains(&heads) {
            return unfit("attention.indexer.head_count", "it must lie between 1 and 1024");
        }
        if u64::from(width) < hyper.rope_dims || width > 1 << 16 {
            let why = "it must be at least rope.dimension_count, 65536 at most";
            return unfit("attention.indexer.key_length", why);
        }
        if top == 0 || !top.is_multiple_of(block) {
            return unfit(
                "attention.indexer.top_k",
                "it must be a multiple of the ratio in attention.compress_ratios",
            );
        }
        let (block, heads, width) = (u64::from(block), heads.into(), width.into());
        Ok(Some(Selection { layers, block, budget: u64::from(top) / block, heads, width }))
    }

    /// Whether a layer chooses. None does where the cache never holds more than is attended to.
    pub fn is_used(&self, net: &Network<'_>, layer: u64) -> bool {
        let chooses = self.layers.get(layer as usize).copied().unwrap_or(false);
        chooses && !self.is_whole(net.batch.cells)
    }

    /// Whether all of a sequence of so many tokens would be chosen.
    pub fn is_whole(&self, tokens: u64) -> bool {
        tokens / self.block <= self.budget
    }

    /// Blocks of a slot, the last one perhaps cut off.
    fn blocks(&self, cells: u64) -> u64 {
        cells.div_ceil(self.block)
    }

    /// Most blocks that a ubatch completes.
    fn completed(&self, tokens: u64, segments: u64) -> u64 {
        (tokens + (self.block - 1) * segments) / self.block
    }

    /// Stores keys and values, chooses, attends, and gives `[value width, heads, tokens]`. `x` is the layer's input.
    ///
    /// # Errors
    /// A tensor is missing or has another shape than the metadata says.
    pub fn attend(
        &self,
        net: &mut Network<'_>,
        heads: &Heads,
        x: TensorId,
        rope: Op,
        layer: u64,
    ) -> Result<TensorId, ModelError> {
        let pooled = self.pool(net, x, rope, layer)?;
        if net.batch.whole {
            return net.attend(heads, layer);
        }
        let name = format!("blk.{layer}.indexer.q");
        let q = net.project(x, &format!("{name}_proj"), self.heads * self.width)?;
        let q = net.by_head(q, self.width, self.heads)?;
        let q = net.norm(q, &format!("{name}_norm.weight"))?;
        let q = net.rotate(q, rope, None)?;
        let [queries, keys, values] = net.store(heads, layer)?;
        if net.form == SparseForm::Masks {
            let mask = self.mask(net, q, pooled)?;
            return net.attend_to(queries, keys, values, Some(mask), layer);
        }
        let (segments, block) = (net.segments()?, self.block as u32);
        let pooled = net.b.reshape(pooled, [self.width, self.blocks(net.batch.cells), net.batch.slots, 1])?;
        let scores = net.b.op(Op::BlockScores { block }, &[q, pooled, segments])?;
        let k = self.budget.min(self.blocks(net.batch.cells)) as u32;
        let chosen = net.b.op(Op::TopK { k }, &[scores])?;
        net.b.label(&format!("blk.{layer}.blocks"));
        let op = Op::BlockAttention { scale: net.hyper.attention_scale, block };
        let attended = net.b.op(op, &[queries, keys, values, chosen, segments])?;
        net.b.label(&format!("blk.{layer}.attention"));
        Ok(attended)
    }

    /// Stores index keys, pools those of blocks that are complete now, and gives all pooled ones, `[width, blocks · slots]`.
    fn pool(&self, net: &mut Network<'_>, x: TensorId, rope: Op, layer: u64) -> Result<TensorId, ModelError> {
        let (width, batch) = (self.width, net.batch);
        let name = format!("blk.{layer}.indexer.k");
        let raw = net.project(x, &format!("{name}_proj"), width)?;
        let cache = net.b.state(
            &format!("index.raw.{layer}"),
            batch.cache.index(),
            &[width, batch.cells * batch.slots],
        )?;
        let rows = net.cache_rows()?;
        let cache = net.b.op(Op::SetRows, &[cache, raw, rows])?;

        let count = self.completed(batch.tokens, batch.segments);
        let cells = net.input(names::POOL_CELLS, DType::I32, &[self.block * count])?;
        let members = net.b.op(Op::GetRows, &[cache, cells])?;
        let members = net.b.reshape(members, [width, self.block, count, 1])?;
        let across = net.b.permute(members, [1, 0, 2, 3])?;
        let sum = net.b.op(Op::SumRows, &[across])?;
        let sum = net.b.reshape(sum, [width, 1, count, 1])?;
        let mean = net.scale(sum, 1.0 / self.block as f32)?;
        let normed = net.norm(mean, &format!("{name}_norm.weight"))?;
        let positions = net.input(names::POOL_POSITIONS, DType::I32, &[4 * count])?;
        let rotated = net.b.apply(rope, &[Some(normed), Some(positions), None])?[0];
        let rotated = net.b.reshape(rotated, [width, count, 1, 1])?;
        let shape = [width, self.blocks(batch.cells) * batch.slots];
        let pooled = net.b.state(&format!("index.pooled.{layer}"), batch.cache.index(), &shape)?;
        let rows = net.input(names::POOL_ROWS, DType::I64, &[count])?;
        Ok(net.b.op(Op::SetRows, &[pooled, rotated, rows])?)
    }

    /// Writes the inputs of a ubatch.
    pub fn write(&self, run: &Run<'_>, into: &mut HostInputs) {
        let (start, tokens) = (run.past.len() as u64, run.ids.len() as u64);
        let count = self.completed(tokens, 1) as usize;
        let complete = || start / self.block..(start + tokens) / self.block;
        let cells = into.of(names::POOL_CELLS);
        for cell in complete().start * self.block..complete().end * self.block {
            cells.extend_from_slice(&(cell as i32).to_le_bytes());
        }
        cells.resize(4 * self.block as usize * count, 0);
        let positions = into.of(names::POOL_POSITIONS);
        // Time, height and width advance together in text; the fourth axis is unused.
        for axis in 1..=3 {
            complete().for_each(|b| positions.extend_from_slice(&((b * self.block) as i32).to_le_bytes()));
            positions.resize(4 * axis * count, 0);
        }
        positions.resize(16 * count, 0);
        let rows = into.of(names::POOL_ROWS);
        complete().for_each(|b| rows.extend_from_slice(&(b as i64).to_le_bytes()));
        rows.resize(8 * count, u8::MAX);
        if run.form == SparseForm::Masks {
            self.write_masks(run, into);
        }
    }
}
