//! One side of a comparison, as it is written: `wgpu:1,fast,disable=gdn_layer`.

use crate::args::{BackendArgs, ExpertArgs, ModelArgs};
use crate::cache;
use anyhow::{Context, bail};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use weft::diff::Side;
use weft::models::CacheTypes;
use weft::session::SessionOptions;
use weft_core::graph::DType;
use weft_core::rules;

/// A side.
#[derive(Clone)]
pub struct SideSpec {
    text: String,
    source: ModelArgs,
    options: SessionOptions,
}

impl fmt::Display for SideSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for SideSpec {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut words = text.split(',');
        let backend = words.next().unwrap_or_default().to_owned();
        let mut backend = BackendArgs { backend, threads: 0, no_repack: false, hip_graph: false };
        let (mut experts, mut cache_type) = (ExpertArgs::default(), None);
        let mut options = SessionOptions::exact();
        for word in words {
            match word.split_once('=').unwrap_or((word, "")) {
                ("exact", "") => options.exact = true,
                ("fast", "") => options.exact = false,
                ("unfused", "") => options.disabled_rules.push("*".to_owned()),
                ("no-repack", "") => backend.no_repack = true,
                ("hip-graph", "") => backend.hip_graph = true,
                ("disable", rule) => options.disabled_rules.push(known_rule(rule)?),
                ("cache", name) => cache_type = Some(cache::named("cache", Some(name), DType::F16)?),
                ("threads", count) => {
                    backend.threads =
                        count.parse().with_context(|| format!("threads={count}: a whole number"))?;
                }
                ("experts-on", place) => experts = ExpertArgs::on(place.parse().map_err(anyhow::Error::msg)?),
                _ => bail!(
                    "`{word}` is not known; known are exact, fast, unfused, no-repack, hip-graph, disable=RULE, \
                     cache=TYPE, threads=N, experts-on=PLACE"
                ),
            }
        }
        let plain = if options.exact { DType::F32 } else { DType::F16 };
        options.cache = CacheTypes::both(cache_type.unwrap_or(plain));
        let source = ModelArgs { model: None, backend, experts };
        Ok(SideSpec { text: text.to_owned(), source, options })
    }
}

impl SideSpec {
    /// Opens its devices and the file.
    pub fn open(&self, file: Option<&Path>, ubatch: u64) -> anyhow::Result<Side> {
        let source = ModelArgs { model: file.map(Path::to_path_buf), ..self.source.clone() };
        let model = source.open().with_context(|| format!("side {self}"))?;
        Ok(Side { model, options: SessionOptions { ubatch, ..self.options.clone() } })
    }
}

fn known_rule(name: &str) -> anyhow::Result<String> {
    let known = rules::FUSED.iter().map(|rule| rule.name);
    if known.clone().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    bail!("disable={name}: no such rule; there are {}", known.collect::<Vec<_>>().join(", "))
}
