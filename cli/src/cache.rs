//! Arguments that say how keys and values are cached.

use anyhow::bail;
use clap::Args;
use weft::models::CacheTypes;
use weft_core::graph::DType;

/// How keys and values are cached.
#[derive(Args, Clone)]
pub struct CacheArgs {
    /// Type of cached keys and values: f32, f16, q8_0 or q4_0. Default: f16, with --exact f32.
    #[arg(long, value_name = "TYPE")]
    pub cache_type: Option<String>,
    /// Type of cached keys alone; -ctk for short.
    #[arg(long, value_name = "TYPE")]
    pub cache_type_k: Option<String>,
    /// Type of cached values alone; -ctv for short.
    #[arg(long, value_name = "TYPE")]
    pub cache_type_v: Option<String>,
}

impl CacheArgs {
    /// The types, where not given this one.
    pub fn types(&self, default: DType) -> anyhow::Result<CacheTypes> {
        let both = named("--cache-type", self.cache_type.as_deref(), default)?;
        Ok(CacheTypes {
            keys: named("--cache-type-k", self.cache_type_k.as_deref(), both)?,
            values: named("--cache-type-v", self.cache_type_v.as_deref(), both)?,
        })
    }
}

/// The type of this name, `default` where none is given.
///
/// # Errors
/// No cache has that type.
pub fn named(option: &str, name: Option<&str>, default: DType) -> anyhow::Result<DType> {
    let Some(name) = name else { return Ok(default) };
    let known = DType::from_name(name).filter(|dtype| CacheTypes::KNOWN.contains(dtype));
    let Some(dtype) = known else {
        bail!("{option} {name}: no such type of a cache; f32, f16, q8_0 and q4_0 are known");
    };
    Ok(dtype)
}
