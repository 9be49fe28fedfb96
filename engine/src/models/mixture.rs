//! A mixture of experts in the place of a feed-forward network: a router chooses a few of many small networks for each
//! token, and a shared one may serve all.

use super::network::Network;
use super::{Hyper, ModelError};
use crate::gguf::Gguf;
use weft_core::graph::{BinaryKind, Op, TensorId, UnaryKind};

/// The least sum that chosen probabilities are divided by: the smallest normal number of 16-bit floats.
const LEAST_SUM: f32 = 6.103_515_6e-5;

/// Experts that a token may use, and their inner width, at most: products of extents stay small enough.
const MOST_USED: u32 = 1 << 10;
const MOST_INNER: u32 = 1 << 20;

/// Sizes of a mixture.
pub(super) struct Mixture {
    experts: u64,
    /// Experts that a token uses.
    used: u32,
    /// Inner width of an expert, by layer.
    inner: Vec<u32>,
    /// Inner width of the shared expert, if there is one.
    shared: Option<u64>,
    /// Factor on the weights of the chosen experts.
    scale: f32,
}

impl Mixture {
    /// Reads the sizes of a mixture without a shared expert.
    ///
    /// # Errors
    /// [`ModelError::Gguf`] if a key is missing or wrong, [`ModelError::Unfit`] if values contradict each other.
    pub(super) fn read(gguf: &Gguf, hyper: &Hyper) -> Result<Self, ModelError> {
        let key = |name: &str| format!("{}.{name}", hyper.architecture);
        let unfit = |what: &str, why: &str| ModelError::unfit(gguf, what, why);
        let (experts, used) = (gguf.get_u32(&key("expert_count"))?, gguf.get_u32(&key("expert_used_count"))?);
        if used == 0 || used > experts || used > MOST_USED {
            return Err(unfit("expert_used_count", "it must lie between 1 and expert_count, 1024 at most"));
        }
        let layers =
            usize::try_from(hyper.layers + hyper.drafts).map_err(|_| unfit("block_count", "too large"))?;
        let inner = match gguf.metadata().find_per_layer(&key("expert_feed_forward_length"), layers)? {
            Some(inner) => inner,
            None => vec![gguf.get_u32(&key("feed_forward_length"))? / used; layers],
        };
        if inner.iter().any(|inner| !(1..=MOST_INNER).contains(inner)) {
            return Err(unfit("expert_feed_forward_length", "it must lie between 1 and 1048576"));
        }
        let scale = gguf.find::<f32>(&key("expert_weights_scale"))?.filter(|scale| *scale != 0.0);
        let scale = scale.unwrap_or(1.0);
        if !scale.is_finite() {
            return Err(unfit("expert_weights_scale", "it must be finite"));
        }
        Ok(Mixture { experts: experts.into(), used, inner, shared: None, scale })
    }

    /// Reads the sizes of a mixture with an expert that every token uses.
    ///
    /// # Errors
    /// As [`Mixture::read`].
    pub(super) fn with_shared_expert(gguf: &Gguf, hyper: &Hyper) -> Result<Self, ModelError> {
        let name = "expert_shared_feed_forward_length";
        let shared = gguf.get_u32(&format!("{}.{name}", hyper.architecture))?;
        if shared == 0 {
            return Err(ModelError::unfit(gguf, name, "it must be greater than 0"));
        }
        Ok(Mixture { shared: Some(shared.into()), ..Mixture::read(gguf, hyper)? })
    }

    /// The mixture of a layer on `[embedding, tokens]`.
    ///
    /// # Errors
    /// A tensor is missing or has another shape than the metadata says.
    pub(super) fn build(
        &self,
        net: &mut Network<'_>,
        x: TensorId,
        layer: u64,
    ) -> Result<TensorId, ModelError> {
        let blk = |name: &str| format!("blk.{layer}.{name}_shexp");
        // The shared expert comes first, so that its gate is projected together with the router's logits.
        let shared = match self.shared {
            Some(inner) => Some(net.gated_network(x, blk, inner)?),
            None => None,
        };
        let chosen = self.route(net, x, layer)?;
        let Some(shared) = shared else { return self.experts(net, x, &chosen, layer) };
        let gate = net.project(x, &blk("ffn_gate_inp"), 1)?;
        let opened = net.unary(UnaryKind::Sigmoid, gate)?;
        let routed = self.experts(net, x, &chosen, layer)?;
        let gated = net.b.mul(shared, opened)?;
        net.add(routed, gated)
    }

    fn route(&self, net: &mut Network<'_>, x: TensorId, layer: u64) -> Result<Chosen, ModelError> {
        let (experts, used, tokens) = (self.experts, u64::from(self.used), net.columns(x));
        let logits = net.project(x, &format!("blk.{layer}.ffn_gate_inp"), experts)?;
        let shares = net.b.op(Op::Softmax { scale: 1.0 }, &[logits])?;
        let ids = net.b.op(Op::TopK { k: self.used }, &[shares])?;
        net.b.label(&format!("blk.{layer}.experts"));
        // Rows of one number, chosen among those of each token.
        let shares = net.b.reshape(shares, [1, experts, tokens, 1])?;
        let shares = net.b.op(Op::GetRows, &[shares, ids])?;
        let shares = net.b.reshape(shares, [used, tokens, 1, 1])?;
        let sum = net.b.op(Op::SumRows, &[shares])?;
        let sum = net.b.op(Op::Clamp { min: LEAST_SUM, max: f32::INFINITY }, &[sum])?;
        let mut weights = net.b.op(Op::Binary { kind: BinaryKind::Div }, &[shares, sum])?;
        if self.scale != 1.0 {
            weights = net.b.op(Op::Scale { scale: self.scale, bias: 0.0 }, &[weights])?;
        }
        Ok(Chosen { ids, weights })
    }

    /// The weighted sum of what the chosen experts give.
    fn experts(
        &self,
        net: &mut Network<'_>,
        x: TensorId,
        chosen: &Chosen,
        layer: u64,
    ) -> Result<TensorId, ModelError> {
        let part = |name: &str| format!("blk.{layer}.{name}_exps");
        let blk = |name: &str| part(name) + ".weight";
        let (experts, used, tokens) = (self.experts, u64::from(self.used), net.columns(x));
        let width = net.hyper.embedding;
        let inner = self.inner.get(layer as usize).copied().map_or(0, u64::from);
        let first = net.b.graph().nodes.len();
        let column = net.b.reshape(x, [width, 1, tokens, 1])?;
        let (gate, up) = if net.has(&blk("ffn_gate_up")) {
            let weight = net.weight(&blk("ffn_gate_up"), &[width, 2 * inner, experts])?;
            let both = net.b.op(Op::MulMatId, &[weight, column, chosen.ids])?;
            let both = net.scaled_by_expert(both, chosen.ids, &part("ffn_gate_up"), experts)?;
            let strides = [1, 2 * inner, 2 * inner * used, 2 * inner * used * tokens].map(|n| n * 4);
            let half = [inner, used, tokens, 1];
            (net.b.view(both, half, strides, 0)?, net.b.view(both, half, strides, inner * 4)?)
        } else {
            let gate = net.weight(&blk("ffn_gate"), &[width, inner, experts])?;
            let up = net.weight(&blk("ffn_up"), &[width, inner, experts])?;
            let gate = net.b.op(Op::MulMatId, &[gate, column, chosen.ids])?;
            let up = net.b.op(Op::MulMatId, &[up, column, chosen.ids])?;
            let gate = net.scaled_by_expert(gate, chosen.ids, &part("ffn_gate"), experts)?;
            (gate, net.scaled_by_expert(up, chosen.ids, &part("ffn_up"), experts)?)
        };
        let gated = net.b.op(Op::Swiglu, &[gate, up])?;
        let down = net.weight(&blk("ffn_down"), &[inner, width, experts])?;
        let each = net.b.op(Op::MulMatId, &[down, gated, chosen.ids])?;
        net.b.label(&part("ffn_down"));
        let each = net.scaled_by_expert(each, chosen.ids, &part("ffn_down"), experts)?;
        let weights = net.b.reshape(chosen.weights, [1, used, tokens, 1])?;
        let weighted = net.b.mul(each, weights)?;
        let across = net.b.permute(weighted, [1, 0, 2, 3])?;
        let sum = net.b.op(Op::SumRows, &[across])?;
        net.experts_since(layer, first);
        Ok(net.b.reshape(sum, [width, tokens, 1, 1])?)
    }
}

/// The experts of each token, `[used, tokens]` each.
struct Chosen {
    ids: TensorId,
    weights: TensorId,
}
