//! The same choice by masks over all cells, as published graphs express it, but that no more than the budget is chosen.

use super::Selection;
use crate::models::network::Network;
use crate::models::{Batch, HostInputs, ModelError, Run, names};
use weft_core::graph::{DType, Op, TensorId, UnaryKind};

/// Zero and minus infinity as halves.
const SHOWN: u16 = 0;
const HIDDEN: u16 = 0xfc00;

impl Selection {
    /// The mask of a ubatch, f16 `[cells, tokens]`, from queries `[width, heads, tokens]` and pooled keys.
    pub(super) fn mask(
        &self,
        net: &mut Network<'_>,
        q: TensorId,
        pooled: TensorId,
    ) -> Result<TensorId, ModelError> {
        let Batch { tokens, segments, cells, slots, .. } = net.batch;
        if slots != 1 {
            let why = "attention by masks is for one slot";
            return Err(ModelError::Batch { tokens, segments, cells, slots, why });
        }
        let blocks = self.blocks(cells);
        let seen = net.input(names::MASK, DType::F16, &[cells, tokens])?;
        let scores = self.cell_scores(net, q, pooled, blocks)?;
        let bias = net.b.op(Op::Cast { to: DType::F32 }, &[seen])?;
        let scores = net.add(scores, bias)?;
        let width = (self.budget * self.block).min(cells);
        let chosen = net.b.op(Op::TopK { k: width as u32 }, &[scores])?;
        let tail = net.input(names::TAIL, DType::I32, &[self.block - 1, tokens])?;
        let hidden = net.b.op(Op::Fill { value: f32::NEG_INFINITY }, &[seen])?;
        let mut shown = net.b.reshape(hidden, [1, cells, tokens, 1])?;
        // One after the other: a list names a cell once, but both may name the same one.
        for (list, length) in [(chosen, width), (tail, self.block - 1)] {
            let like = net.b.view(scores, [1, length, tokens, 1], [4, 0, 0, 0], 0)?;
            let zeros = net.b.op(Op::Fill { value: 0.0 }, &[like])?;
            shown = net.b.op(Op::SetRows, &[shown, zeros, list])?;
        }
        let shown = net.b.reshape(shown, [cells, tokens, 1, 1])?;
        net.add(shown, seen)
    }

    /// The scores of blocks, each for all of its cells: `[cells, tokens]`.
    fn cell_scores(
        &self,
        net: &mut Network<'_>,
        q: TensorId,
        pooled: TensorId,
        blocks: u64,
    ) -> Result<TensorId, ModelError> {
        let (tokens, cells) = (net.batch.tokens, net.batch.cells);
        let q = net.b.reshape(q, [self.width, self.heads * tokens, 1, 1])?;
        let products = net.b.mul_mat(pooled, q)?;
        let products = net.unary(UnaryKind::Relu, products)?;
        let row = blocks * 4;
        let head = |net: &mut Network<'_>, h: u64| {
            let strides = [4, row * self.heads, row * self.heads * tokens, row * self.heads * tokens];
            net.b.view(products, [blocks, tokens, 1, 1], strides, h * row)
        };
        let mut sum = head(net, 0)?;
        for h in 1..self.heads {
            let part = head(net, h)?;
            sum = net.add(sum, part)?;
        }
        let mask = net.input(names::BLOCK_MASK, DType::F32, &[blocks, tokens])?;
        let scores = net.add(sum, mask)?;
        let by_block = net.b.permute(scores, [1, 0, 2, 3])?;
        let by_block = net.b.op(Op::Cast { to: DType::F32 }, &[by_block])?;
        let places = net.input(names::CELL_BLOCKS, DType::I32, &[cells])?;
        let by_cell = net.b.op(Op::GetRows, &[by_block, places])?;
        let by_token = net.b.permute(by_cell, [1, 0, 2, 3])?;
        Ok(net.b.op(Op::Cast { to: DType::F32 }, &[by_token])?)
    }

    /// Writes the inputs of masks.
    pub(super) fn write_masks(&self, run: &Run<'_>, into: &mut HostInputs) {
        let (start, tokens) = (run.past.len() as u64, run.ids.len() as u64);
        let seen = || (0..tokens).map(|i| start + i + 1);
        let mask = into.of(names::MASK);
        for seen in seen() {
            let of = |cell| if cell < seen { SHOWN } else { HIDDEN };
            (0..run.cells).for_each(|cell| mask.extend_from_slice(&of(cell).to_le_bytes()));
        }
        let mask = into.of(names::BLOCK_MASK);
        for seen in seen() {
            let of = |block| if block < seen / self.block { 0.0f32 } else { f32::NEG_INFINITY };
            (0..self.blocks(run.cells)).for_each(|block| mask.extend_from_slice(&of(block).to_le_bytes()));
        }
        let places = into.of(names::CELL_BLOCKS);
        (0..run.cells).for_each(|cell| places.extend_from_slice(&((cell / self.block) as i32).to_le_bytes()));
        let tail = into.of(names::TAIL);
        for seen in seen() {
            let first = seen / self.block * self.block;
            for cell in first..first + self.block - 1 {
                let entry = if cell < seen { cell as i32 } else { -1 };
                tail.extend_from_slice(&entry.to_le_bytes());
            }
        }
    }
}
