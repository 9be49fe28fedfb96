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
        // Bounds keep products of sizes, and lists by layer, small enough.
        let within = |what: &str, value: u64, most: u64| match value {
            value if (1..=most).contains(&value) => Ok(value),
            value => Err(unfit(what, &format!("it is {value} and must lie between 1 and {most}"))),
        };
        let sized = |what: &str, most: u64| within(what, number(what)?, most);
        let embedding = sized("embedding_length", 1 << 20)?;
        let blocks = sized("block_count", 1 << 16)?;
        let heads = sized("attention.head_count", 1 << 16)?;
        let drafts = maybe("nextn_predict_layers")?.unwrap_or(0);
        if drafts > 1 || drafts >= blocks {
            return Err(unfit("nextn_predict_layers", "it must be 0 or 1, and less than block_count"));
        }
        let kv_heads = maybe("attention.head_count_kv")?.unwrap_or(heads);
        if kv_heads == 0 || !heads.is_multiple_of(kv_heads) {
            return Err(unfit("attention.head_count_kv", "it must divide attention.head_count"));
        }
        let width = |what: &str| match maybe(what)? {
            Some(width) => within(what, width, 1 << 16),
            None if embedding.is_multiple_of(heads) => Ok(embedding / heads),
            None => {
                Err(unfit(what, "it is missing, and attention.head_count does not divide embedding_length"))
            }
        };
        let (key_length, value_length) = (width("attention.key_length")?, width("attention.value_length")?);
        let rope_dims = maybe("rope.dimension_count")?.unwrap_or(key_length);
        if rope_dims > key_length || !rope_dims.is_multiple_of(2) {
            return Err(unfit("rope.dimension_count", "it must be even and at most attention.key_length"));
        }
        let context = sized("context_length", u64::from(u32::MAX))?;
        let eps = gguf.get_f32(&key("attention.layer_norm_rms_epsilon"))?;
        if !(0.0..1.0).contains(&eps) {
            return Err(unfit("attention.layer_norm_rms_epsilon", "it must lie between 0 and 1"));
        }
        let rope_base = float("rope.freq_base")?.unwrap_or(10_000.0);
        if !rope_base.is_finite() || rope_base <= 1.0 {
            return Err(unfit("rope.freq_base", "it must be finite and greater than 1"));
        }
        let (rope_scale, yarn) = scaling(gguf, &architecture, context)?;
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
            eps,
            context,
            vocabulary: embedding_rows,
            rope_dims,
            rope_base,
            rope_scale,
            yarn,
            attention_scale: scale.unwrap_or(1.0 / (key_length as f32).sqrt()),
            architecture,
        })
    }
}

/// What the keys of rotary scaling say: the factor on positions, and YaRN's mixing, context of training and magnitude.
fn scaling(gguf: &Gguf, architecture: &str, context: u64) -> Result<(f32, (f32, u32, f32)), ModelError> {
    let key = |name: &str| format!("{architecture}.rope.scaling.{name}");
    let float = |name: &str| gguf.find::<f32>(&key(name));
    let unfit = |name: &str, why: &str| ModelError::unfit(gguf, &format!("rope.scaling.{name}"), why);
    let kind = gguf.find::<&str>(&key("type"))?.unwrap_or("linear");
    let factor = float("factor")?.filter(|factor| *factor != 0.0).unwrap_or(1.0);
    if !factor.is_finite() || factor < 0.0 {
        return Err(unfit("factor", "it must be finite and not negative"));
    }
    let attention_factor = float("attn_factor")?.unwrap_or(1.0);
    if !attention_factor.is_finite() || attention_factor <= 0.0 {
        return Err(unfit("attn_factor", "it must be finite and greater than 0"));
    }
    match kind {
        "none" => Ok((1.0, (0.0, 0, attention_factor))),
        "linear" => Ok((1.0 / factor, (0.0, 0, attention_factor))),
        "yarn" => {
            let mix = float("yarn_ext_factor")?.unwrap_or(1.0);
            if !(0.0..=1.0).contains(&mix) {
                return Err(unfit("yarn_ext_factor", "it must lie between 0 and 1"));
            }
            let built_in = [
                ("yarn_beta_fast", 32.0),
                ("yarn_beta_slow", 1.0),
                ("yarn_attn_factor", 1.0),
                ("yarn_log_multiplier", 0.0),
            ];
            for (name, built_in) in built_in {
                if float(name)?.is_some_and(|value| value != built_in) {
                    return Err(unfit(name, &format!("only {built_in} is supported")));
                }
            }
            let trained = gguf.find::<u32>(&key("original_context_length"))?.map_or(context, u64::from);
            let trained = u32::try_from(trained).ok().filter(|trained| *trained > 0);
            let trained =
                trained.ok_or_else(|| unfit("original_context_length", "it must be greater than 0"))?;
            // Without mixing there is no correction either.
            let correction = if mix == 0.0 { 1.0 } else { 1.0 + 0.1 * factor.max(1.0).ln() };
            Ok((1.0 / factor, (mix, trained, attention_factor * correction)))
        }
        other => Err(unfit("type", &format!("`{other}` is not supported; none, linear and yarn are"))),
    }
}
