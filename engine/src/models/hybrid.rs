//! Layers of the hybrids: gated delta nets, with gated attention every few layers.

use super::attention::Heads;
use super::network::Network;
use super::{Hyper, ModelError, Rows, names};
use crate::gguf::Gguf;
use weft_core::graph::{DType, HeadMap, L2Form, Op, RopeKind, TensorId, UnaryKind};

/// Sizes of the recurrent layers, which layers those are, and how an architecture lays out what it projects.
pub(super) struct Hybrid {
    recurrent: Vec<bool>,
    layout: Layout,
    taps: u64,
    /// Width of a head.
    width: u64,
    key_heads: u64,
    value_heads: u64,
}

/// What differs between the architectures.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Which key head a value head uses.
    pub heads: HeadMap,
    /// Pairing and positions of the rotary embedding.
    pub rope: RopeKind,
    /// Its sections.
    pub sections: [u32; 4],
    /// The function of a delta net's output gate.
    pub opening: UnaryKind,
    /// The projections of a delta net.
    pub project: fn(&Hybrid, &mut Network<'_>, TensorId, u64) -> Result<Projected, ModelError>,
}

/// What a delta net's input becomes.
pub(super) struct Projected {
    /// Queries of all heads, then keys, then values: `[channels, tokens]`.
    pub row: TensorId,
    /// The output's gate, `[value heads · width, tokens]`.
    pub z: TensorId,
    /// Write strength before its sigmoid, `[value heads, tokens]`.
    pub beta: TensorId,
    /// Decay before its function, `[value heads, tokens]`.
    pub alpha: TensorId,
}

impl Hybrid {
    /// Reads the keys of the recurrent layers.
    ///
    /// # Errors
    /// [`ModelError::Gguf`] if a key is missing or wrong, [`ModelError::Unfit`] if values contradict each other.
    pub(super) fn read(gguf: &Gguf, hyper: &Hyper, layout: Layout) -> Result<Self, ModelError> {
        let key = |name: &str| format!("{}.{name}", hyper.architecture);
        let number = |name: &str| gguf.get_u32(&key(name)).map(u64::from);
        let unfit = |what: &str, why: &str| ModelError::unfit(gguf, what, why);
        let interval = gguf.find::<u32>(&key("full_attention_interval"))?.map_or(4, u64::from);
        if interval == 0 {
            return Err(unfit("full_attention_interval", "it must be at least 1"));
        }
        let blocks =
            usize::try_from(number("block_count")?).map_err(|_| unfit("block_count", "too large"))?;
        let listed = gguf.metadata().find_per_layer::<bool>(&key("attention.recurrent_layers"), blocks)?;
        let recurrent =
            listed.unwrap_or_else(|| (1..=hyper.layers).map(|i| !i.is_multiple_of(interval)).collect());
        let hybrid = Hybrid {
            recurrent,
            layout,
            taps: number("ssm.conv_kernel")?,
            width: number("ssm.state_size")?,
            key_heads: number("ssm.group_count")?,
            value_heads: number("ssm.time_step_rank")?,
        };
        // Bounds keep products of sizes small enough.
        for (what, value, least, most) in [
            ("ssm.conv_kernel", hybrid.taps, 2, 64),
            ("ssm.state_size", hybrid.width, 1, 1 << 12),
            ("ssm.group_count", hybrid.key_heads, 1, 1 << 12),
            ("ssm.time_step_rank", hybrid.value_heads, 1, 1 << 12),
        ] {
            if !(least..=most).contains(&value) {
                return Err(unfit(what, &format!("it is {value} and must lie between {least} and {most}")));
            }
        }
        if !hybrid.value_heads.is_multiple_of(hybrid.key_heads) {
            return Err(unfit("ssm.time_step_rank", "it must be a multiple of ssm.group_count"));
        }
        if Some(number("ssm.inner_size")?) != hybrid.value_heads.checked_mul(hybrid.width) {
            return Err(unfit("ssm.inner_size", "it must be ssm.time_step_rank times ssm.state_size"));
        }
        if hyper.key_length != hyper.value_length {
            return Err(unfit("attention.value_length", "it must equal attention.key_length"));
        }
        Ok(hybrid)
    }

    /// The whole model; `network` is the feed-forward half of a block.
    ///
    /// # Errors
    /// A tensor is missing or has another shape than the metadata says.
    pub(super) fn build(
        &self,
        net: &mut Network<'_>,
        network: impl Fn(&mut Network<'_>, TensorId, u64) -> Result<TensorId, ModelError>,
    ) -> Result<(), ModelError> {
        let mut x = net.embed()?;
        for layer in 0..net.hyper.layers {
            let normed = net.norm(x, &format!("blk.{layer}.attn_norm.weight"))?;
            let mixed = if self.is_recurrent(layer) {
                self.delta_net(net, normed, layer)?
            } else {
                self.attention(net, normed, layer, |net, heads| net.attend(heads, layer))?
            };
            let inner = |net: &mut Network<'_>, x| network(net, x, layer);
            x = net.end_block(x, mixed, layer, "post_attention_norm", inner)?;
        }
        net.head(x)
    }

    /// The drafter: a gated attention block behind the trunk's, which reads the embedding of a token and the trunk's
    /// residual of the one before, and gives logits of the one after. `network` is as in [`Hybrid::build`].
    ///
    /// # Errors
    /// A tensor is missing or has another shape than the metadata says.
    pub(super) fn draft(
        &self,
        net: &mut Network<'_>,
        network: impl Fn(&mut Network<'_>, TensorId, u64) -> Result<TensorId, ModelError>,
    ) -> Result<(), ModelError> {
        let (layer, width) = (net.hyper.layers, net.hyper.embedding);
        let blk = |name: &str| format!("blk.{layer}.nextn.{name}");
        let part = |name: &str| blk(name) + ".weight";
        let own_table = net.has(&part("embed_tokens"));
        let token = if own_table { net.embed_with(&blk("embed_tokens"))? } else { net.embed()? };
        let ring = net.b.state(names::KEPT, DType::F32, &[width, net.batch.kept])?;
        let places = net.before_rows()?;
        let before = net.b.op(Op::GetRows, &[ring, places])?;
        let (token, before) = (net.norm(token, &part("enorm"))?, net.norm(before, &part("hnorm"))?);
        let both = net.b.op(Op::Concat { dim: 0 }, &[token, before])?;
        let x = net.project(both, &blk("eh_proj"), width)?;
        let normed = net.norm(x, &format!("blk.{layer}.attn_norm.weight"))?;
        let mixed = self.attention(net, normed, layer, |net, heads| net.attend(heads, layer))?;
        let x = net.end_block(x, mixed, layer, "post_attention_norm", |net, x| network(net, x, layer))?;
        if net.batch.rows == Rows::None {
            return Ok(());
        }
        let own_norm = part("shared_head_norm");
        let y = net.norm(x, if net.has(&own_norm) { &own_norm } else { "output_norm.weight" })?;
        // The last row goes on where it drafts a second token.
        let columns = net.columns(y);
        let last = net.b.view(
            y,
            [width, 1, 1, 1],
            [4, width * 4, width * 4, width * 4],
            (columns - 1) * width * 4,
        )?;
        let end = net.b.view(
            ring,
            [width, 1, 1, 1],
            [4, width * 4, width * 4, width * 4],
            (net.batch.kept - 1) * width * 4,
        )?;
        net.b.op(Op::Copy, &[last, end])?;
        let own_head = Some(blk("shared_head_head")).filter(|_| net.has(&part("shared_head_head")));
        net.logits(y, own_head.as_deref())
    }

    /// Whether a layer is a delta net.
    pub(super) fn is_recurrent(&self, layer: u64) -> bool {
        self.recurrent.get(layer as usize).copied().unwrap_or(false)
    }

    /// The rotary embedding of queries and keys.
    pub(super) fn rope(&self, net: &Network<'_>) -> Op {
        net.rope(self.layout.rope, self.layout.sections)
    }

    /// Key heads, and value heads per key head.
    pub(super) fn groups(&self) -> (u64, u64) {
        (self.key_heads, self.value_heads / self.key_heads)
    }

    /// Width of a head.
    pub(super) fn width(&self) -> u64 {
        self.width
    }

    /// Width of the convolved row.
    pub(super) fn channels(&self) -> u64 {
        (2 * self.key_heads + self.value_heads) * self.width
    }

    /// A matrix for each part: `attn_qkv`, `attn_gate`, `ssm_beta`, `ssm_alpha`.
    pub(super) fn separate(
        &self,
        net: &mut Network<'_>,
        x: TensorId,
        layer: u64,
    ) -> Result<Projected, ModelError> {
        let blk = |name: &str| format!("blk.{layer}.{name}");
        Ok(Projected {
            row: net.project(x, &blk("attn_qkv"), self.channels())?,
            z: net.project(x, &blk("attn_gate"), self.value_heads * self.width)?,
            beta: net.project(x, &blk("ssm_beta"), self.value_heads)?,
            alpha: net.project(x, &blk("ssm_alpha"), self.value_heads)?,
        })
    }

    /// A delta net on `[embedding, tokens]`.
    ///
    /// # Errors
    /// As [`Hybrid::build`].
    pub(super) fn delta_net(
        &self,
        net: &mut Network<'_>,
        x: TensorId,
        layer: u64,
    ) -> Result<TensorId, ModelError> {
        let blk = |name: &str| format!("blk.{layer}.{name}");
        let Hybrid { width, key_heads, value_heads, taps, .. } = *self;
        let (tokens, slots) = (net.batch.tokens, net.batch.slots);
        let (keys, values) = (width * key_heads, width * value_heads);
        let channels = self.channels();
        let Projected { row, z, beta, alpha } = (self.layout.project)(self, net, x, layer)?;

        let segments = net.segments()?;
        // As many inputs more as tokens can be taken back.
        let (snapshots, reach) = (net.batch.snapshots, taps - 1 + net.batch.snapshots - 1);
        let history = net.b.state(&format!("history.{layer}"), DType::F32, &[reach, channels, slots])?;
        let weight = net.weight(&blk("ssm_conv1d.weight"), &[taps, channels])?;
        let conv = Op::SsmConv { dilation: 1 };
        let mixed = net.b.apply(conv, &[Some(row), Some(weight), Some(history), Some(segments)])?[0];
        net.b.op(Op::ConvHistory, &[row, history, segments])?;
        let mixed = net.unary(UnaryKind::Silu, mixed)?;

        // Slices of one row, as the kernels want them: no copies.
        let stride = channels * 4;
        let strides = [4, width * 4, stride, stride * tokens];
        let q = net.b.view(mixed, [width, key_heads, tokens, 1], strides, 0)?;
        let k = net.b.view(mixed, [width, key_heads, tokens, 1], strides, keys * 4)?;
        let v = net.b.view(mixed, [width, value_heads, tokens, 1], strides, 2 * keys * 4)?;
        let unit = Op::L2Norm { eps: net.hyper.eps, form: L2Form::SumEps };
        let (q, k) = (net.b.op(unit, &[q])?, net.b.op(unit, &[k])?);

        let dt = net.vector(&blk("ssm_dt.bias"), value_heads)?;
        let a = net.vector(&blk("ssm_a"), value_heads)?;
        let shifted = net.add(alpha, dt)?;
        let soft = net.unary(UnaryKind::Softplus, shifted)?;
        let gate = net.b.mul(soft, a)?;
        let gate = net.b.reshape(gate, [1, value_heads, tokens, 1])?;
        let beta = net.unary(UnaryKind::Sigmoid, beta)?;
        let beta = net.b.reshape(beta, [1, value_heads, tokens, 1])?;

        let planes = [width, width, value_heads, slots * snapshots];
        let state = net.b.state(&format!("state.{layer}"), DType::F32, &planes)?;
        let op = Op::GatedDeltaNet { snapshots: snapshots as u32, heads: self.layout.heads };
        let sources = [q, k, v, gate, beta, state, segments].map(Some);
        let out = net.b.apply(op, &sources)?[0];
        net.b.label(&blk("delta_net"));
        let normed = net.norm(out, &blk("ssm_norm.weight"))?;
        let z = net.b.reshape(z, [width, value_heads, tokens, 1])?;
        let opened = net.unary(self.layout.opening, z)?;
        let gated = net.b.mul(normed, opened)?;
        let flat = net.b.reshape(gated, [values, tokens, 1, 1])?;
        net.project(flat, &blk("ssm_out"), net.hyper.embedding)
    }

    /// Gated attention on `[embedding, tokens]`; `attend` makes `[width, heads, tokens]` of queries, keys and values.
    ///
    /// # Errors
    /// As [`Hybrid::build`].
    pub(super) fn attention(
        &self,
        net: &mut Network<'_>,
        x: TensorId,
        layer: u64,
        attend: impl FnOnce(&mut Network<'_>, &Heads) -> Result<TensorId, ModelError>,
    ) -> Result<TensorId, ModelError> {
        let blk = |name: &str| format!("blk.{layer}.{name}");
        let hyper = net.hyper;
        let (width, heads, kv_heads, tokens) =
            (hyper.key_length, hyper.heads, hyper.kv_heads, net.batch.tokens);
        // Rows per head: query, then gate.
        let both = net.project(x, &blk("attn_q"), 2 * width * heads)?;
        let k = net.project(x, &blk("attn_k"), width * kv_heads)?;
        let v = net.project(x, &blk("attn_v"), width * kv_heads)?;
        let strides = [4, 2 * width * 4, 2 * width * heads * 4, 2 * width * heads * tokens * 4];
        let q = net.b.view(both, [width, heads, tokens, 1], strides, 0)?;
        let gate = net.b.view(both, [width, heads, tokens, 1], strides, width * 4)?;
        let k = net.by_head(k, width, kv_heads)?;
        let v = net.by_head(v, width, kv_heads)?;
        let q = net.norm(q, &blk("attn_q_norm.weight"))?;
        let k = net.norm(k, &blk("attn_k_norm.weight"))?;
        let rope = self.rope(net);
        let (q, k) = (net.rotate(q, rope, None)?, net.rotate(k, rope, None)?);
        let attended = attend(net, &Heads { q, k, v })?;
        let opened = net.unary(UnaryKind::Sigmoid, gate)?;
        let gated = net.b.mul(attended, opened)?;
        let flat = net.b.reshape(gated, [width * heads, tokens, 1, 1])?;
        net.project(flat, &blk("attn_output"), hyper.embedding)
    }
}
