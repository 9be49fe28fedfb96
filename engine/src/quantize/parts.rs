//! What each tensor of a file is for.

use std::collections::HashMap;

use super::recipe::Part;
use crate::gguf::{Gguf, TensorEntry, Value};

/// Parts of names of matrices that stay as they are: norms, routers, short convolutions.
const KEPT: [&str; 3] = ["_norm.weight", "ffn_gate_inp", "ssm_conv1d.weight"];

/// Whether a tensor is a matrix that is quantised.
pub(super) fn is_matrix(entry: &TensorEntry) -> bool {
    let rows: u64 = entry.shape[1..].iter().product();
    rows > 1 && entry.name.ends_with("weight") && !KEPT.iter().any(|kept| entry.name.contains(kept))
}

/// What is known of a whole file.
pub(super) struct Parts {
    has_head: bool,
    /// Four heads of queries or more share one of keys.
    pub grouped: bool,
    layers: u64,
    /// The place of each `attn_v` or `attn_qkv` in the order of layers.
    values: HashMap<String, u64>,
}

impl Parts {
    pub(super) fn of(model: &Gguf) -> Self {
        let names = || model.tensors().iter().map(|entry| entry.name.as_str());
        let mut values: Vec<&str> = names()
            .filter(|name| name.contains("attn_v.weight") || name.contains("attn_qkv.weight"))
            .collect();
        values.sort_by_key(|name| layer(name));
        Self {
            grouped: is_grouped(model),
            has_head: model.find_tensor("output.weight").is_some(),
            layers: names().filter_map(layer).max().map_or(0, |last| last + 1),
            values: (0..).zip(values).map(|(at, name)| (name.to_owned(), at)).collect(),
        }
    }

    pub(super) fn part(&self, entry: &TensorEntry) -> Part {
        let name = entry.name.as_str();
        if name == "output.weight" || (!self.has_head && name == "token_embd.weight") {
            return Part::Head;
        }
        if name == "token_embd.weight" {
            return Part::Embedding;
        }
        if let Some(at) = self.values.get(name) {
            return Part::Value { at: *at, of: self.values.len() as u64 };
        }
        match layer(name) {
            Some(at) if name.contains("ffn_down") => Part::Down { at, of: self.layers },
            Some(_) if name.contains("attn_output.weight") => Part::AttentionOutput,
            _ => Part::Plain,
        }
    }
}

/// Whether four heads of queries or more share one of keys.
fn is_grouped(model: &Gguf) -> bool {
    let count = |key: &str| {
        let arch = model.find::<&str>("general.architecture").ok().flatten()?;
        match model.metadata().value(&format!("{arch}.attention.{key}"))? {
            // Layers that differ: those without attention may say 0.
            Value::Array(all) => all.scalars().filter_map(|value| value.as_integer()).max(),
            one => one.as_integer(),
        }
    };
    let queries = count("head_count").unwrap_or(0);
    let keys = count("head_count_kv").unwrap_or(queries);
    keys > 0 && queries / keys >= 4
}

/// The number of the block that a tensor belongs to.
fn layer(name: &str) -> Option<u64> {
    name.strip_prefix("blk.")?.split_once('.')?.0.parse().ok()
}
