//! `llama`: Llama 1–3, Mistral, SmolLM2. Adjacent dimensions rotate together; frequency divisors are optional.

use super::attention::Heads;
use super::network::Network;
use super::{Architecture, Hyper, ModelError};
use crate::gguf::Gguf;
use weft_core::graph::{RopeKind, TensorId};

struct Llama;

pub(super) fn open(gguf: &Gguf, hyper: &Hyper) -> Result<Box<dyn Architecture>, ModelError> {
    dense(gguf, hyper)?;
    Ok(Box::new(Llama))
}

/// Whether the file is a plain transformer without experts whose heads rotate whole.
pub(super) fn dense(gguf: &Gguf, hyper: &Hyper) -> Result<(), ModelError> {
    rotates_whole(gguf, hyper)?;
    if gguf.find::<u32>(&format!("{}.expert_count", hyper.architecture))?.unwrap_or(0) > 0 {
        let why = "mixtures of experts of this architecture are not supported yet";
        return Err(ModelError::unfit(gguf, "expert_count", why));
    }
    Ok(())
}

/// Whether heads rotate whole.
pub(super) fn rotates_whole(gguf: &Gguf, hyper: &Hyper) -> Result<(), ModelError> {
    if hyper.rope_dims != hyper.key_length || hyper.key_length != hyper.value_length {
        let why = "this architecture rotates whole heads, and keys are as wide as values";
        return Err(ModelError::unfit(gguf, "rope.dimension_count", why));
    }
    Ok(())
}

impl Architecture for Llama {
    fn build(&self, net: &mut Network<'_>) -> Result<(), ModelError> {
        let divisors = net.maybe_weight("rope_freqs.weight", &[net.hyper.rope_dims / 2])?;
        build(net, RopeKind::Interleaved, divisors)
    }
}

/// The model with this pairing of rotated dimensions, and divisors of the frequencies.
pub(super) fn build(
    net: &mut Network<'_>,
    pairing: RopeKind,
    divisors: Option<TensorId>,
) -> Result<(), ModelError> {
    let rope = net.rope(pairing, [0; 4]);
    let mut x = net.embed()?;
    for layer in 0..net.hyper.layers {
        let normed = net.norm(x, &format!("blk.{layer}.attn_norm.weight"))?;
        let heads = project(net, normed, layer)?;
        let (q, k) = (net.rotate(heads.q, rope, divisors)?, net.rotate(heads.k, rope, divisors)?);
        let mixed = output(net, &Heads { q, k, v: heads.v }, layer)?;
        x = net.end_block(x, mixed, layer, "ffn_norm", |net, x| net.feed_forward(x, layer))?;
    }
    net.head(x)
}

/// Queries, keys and values by head.
pub(super) fn project(net: &mut Network<'_>, x: TensorId, layer: u64) -> Result<Heads, ModelError> {
    let hyper = net.hyper;
    let (width, heads, kv_heads) = (hyper.key_length, hyper.heads, hyper.kv_heads);
    let q = net.project(x, &format!("blk.{layer}.attn_q"), width * heads)?;
    let k = net.project(x, &format!("blk.{layer}.attn_k"), width * kv_heads)?;
    let v = net.project(x, &format!("blk.{layer}.attn_v"), hyper.value_length * kv_heads)?;
    Ok(Heads {
        q: net.by_head(q, width, heads)?,
        k: net.by_head(k, width, kv_heads)?,
        v: net.by_head(v, hyper.value_length, kv_heads)?,
    })
}

/// Attention and its output projection.
pub(super) fn output(net: &mut Network<'_>, heads: &Heads, layer: u64) -> Result<TensorId, ModelError> {
    let hyper = net.hyper;
    let attended = net.attend(heads, layer)?;
    let flat = net.b.reshape(attended, [hyper.value_length * hyper.heads, net.batch.tokens, 1, 1])?;
    net.project(flat, &format!("blk.{layer}.attn_output"), hyper.embedding)
}
