//! Numbers that every architecture has.

use super::ModelError;
use crate::gguf::Gguf;

/// Sizes of a model, from its metadata.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyper {
    /// The architecture's name, also the prefix of its keys.
    pub architecture: String,
    /// Width of a residual stream.
    pub embedding: u64,
    /// Residual streams: 1 but for hyper-connections.
    pub streams: u64,
    /// Layers of the trunk; draft layers do not count.
    pub layers: u64,
    /// Draft layers behind the trunk.
    pub drafts: u64,
    /// Query heads.
    pub heads: u64,
    /// Key and value heads.
    pub kv_heads: u64,
    /// Width of keys and queries per head.
    pub key_length: u64,
    /// Width of values per head.
    pub value_length: u64,
    /// Inner width of the feed-forward network; 0 where a file with experts has none besides them.
    pub feed_forward: u64,
    /// Guard of the norms.
    pub eps: f32,
    /// Tokens of context that the model was made for.
    pub context: u64,
    /// Rows of the embedding.
    pub vocabulary: u64,
    /// Rotated dimensions of a head.
    pub rope_dims: u64,
    /// Base of the rotary frequencies.
    pub rope_base: f32,
    /// Factor on positions.
    pub rope_scale: f32,
    /// YaRN: mixing, context of training, magnitude.
    pub yarn: (f32, u32, f32),
    /// Factor on attention scores.
    pub attention_scale: f32,
}

impl Hyper {
    pub(super) fn read(gguf: &Gguf) -> Result<Self, ModelError> {
        let architecture = gguf.get_str("general.architecture")?.to_owned();
        let key = |name: &str| format!("{architecture}.{name}");
        let number = |name: &str| gguf.get_u32(&key(name)).map(u64::from);
        let maybe = |name: &str| gguf.find::<u32>(&key(name)).map(|v| v.map(u64::from));
        let float = |name: &str| gguf.find::<f32>(&key(name));
        let unfit = |what: &str, why: &str| ModelError::unfit(gguf, what, why);
        let (embedding, blocks, heads) =
            (number("embedding_length")?, number("block_count")?, number("attention.head_count")?);
        let drafts = maybe("nextn_predict_layers")?.unwrap_or(0);
        if embedding == 0 || heads == 0 || drafts >= blocks {
            return Err(unfit("block_count, head_count or embedding_length", "it must be greater than 0"));
        }
        let kv_heads = maybe("attention.head_count_kv")?.unwrap_or(heads);
        if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            return Err(unfit("attention.head_count_kv", "it must divide attention.head_count"));
        }
        let key_length = maybe("attention.key_length")?.unwrap_or(embedding / heads);
        let value_length = maybe("attention.value_length")?.unwrap_or(embedding / heads);
        let rope_dims = maybe("rope.dimension_count")?.unwrap_or(key_length);
        if key_length == 0 || value_length == 0 || rope_dims > key_length || !rope_dims.is_multiple_of(2) {
            return Err(unfit("rope.dimension_count", "it must be even and at most attention.key_length"));
        }
        let context = number("context_length")?;
        let kind = gguf.find::<&str>(&key("rope.scaling.type"))?.unwrap_or("linear").to_owned();
        let factor = float("rope.scaling.factor")?.unwrap_or(1.0);
        let rope_scale = if kind == "none" || factor <= 0.0 { 1.0 } else { 1.0 / factor };
        let trained = maybe("rope.scaling.original_context_length")?.unwrap_or(context);
        let attention_factor = float("rope.scaling.attn_factor")?.unwrap_or(1.0);
        let yarn = match kind.as_str() {
            "none" | "linear" => (0.0, 0, attention_factor),
            "yarn" => {
                let trained = u32::try_from(trained)
                    .map_err(|_| unfit("rope.scaling.original_context_length", "too large"))?;
                (1.0, trained, attention_factor * (1.0 + 0.1 * factor.max(1.0).ln()))
            }
            other => {
                return Err(unfit(
                    "rope.scaling.type",
                    &format!("`{other}` is not supported; none, linear and yarn are"),
                ));
            }
        };
        let feed_forward = match maybe("expert_count")? {
            Some(1..) => maybe("feed_forward_length")?.unwrap_or(0),
            _ => number("feed_forward_length")?,
        };
        let embedding_rows = gguf.tensor("token_embd.weight")?.shape[1];
        let scale = float("attention.scale")?.filter(|s| *s != 0.0);
        Ok(Hyper {
            embedding,
            streams: maybe("hyper_connection.count")?.unwrap_or(1),
            layers: blocks - drafts,
            drafts,
            heads,
            kv_heads,
            key_length,
            value_length,
            feed_forward,
            eps: gguf.get_f32(&key("attention.layer_norm_rms_epsilon"))?,
            context,
            vocabulary: embedding_rows,
            rope_dims,
            rope_base: float("rope.freq_base")?.unwrap_or(10_000.0),
            rope_scale,
            yarn,
            attention_scale: scale.unwrap_or(1.0 / (key_length as f32).sqrt()),
            architecture,
        })
    }
}
