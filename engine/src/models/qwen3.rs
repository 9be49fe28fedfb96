//! `qwen3`: dense Qwen3. Queries and keys are normed per head before they rotate.

use super::attention::Heads;
use super::network::Network;
use super::{Architecture, Hyper, ModelError, llama};
use crate::gguf::Gguf;
use weft_core::graph::{RopeKind, TensorId};

struct Qwen3;

pub(super) fn open(gguf: &Gguf, hyper: &Hyper) -> Result<Box<dyn Architecture>, ModelError> {
    llama::dense(gguf, hyper)?;
    Ok(Box::new(Qwen3))
}

impl Architecture for Qwen3 {
    fn build(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        build(net, |net, x, layer| net.feed_forward(x, layer))
    }
}

/// The model; `network` is the feed-forward half of a block.
pub(super) fn build(
    net: &mut Network<'_>,
    network: impl Fn(&mut Network<'_>, TensorId, u64) -> Result<TensorId, ModelError>,
) -> Result<(), ModelError> {
    let rope = net.rope(RopeKind::Neox, [0; 4]);
    let mut x = net.embed()?;
    for layer in 0..net.hyper.layers {
        let normed = net.norm(x, &format!("blk.{layer}.attn_norm.weight"))?;
        let heads = llama::project(net, normed, layer)?;
        let q = net.norm(heads.q, &format!("blk.{layer}.attn_q_norm.weight"))?;
        let k = net.norm(heads.k, &format!("blk.{layer}.attn_k_norm.weight"))?;
        let (q, k) = (net.rotate(q, rope, None)?, net.rotate(k, rope, None)?);
        let mixed = llama::output(net, &Heads { q, k, v: heads.v }, layer)?;
        x = net.end_block(x, mixed, layer, "ffn_norm", |net, x| network(net, x, layer))?;
    }
    net.head(x)
}
