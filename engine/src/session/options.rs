//! How a session works.

use super::{SampleOn, Speculation};
use crate::models::CacheTypes;
use weft_core::graph::DType;

/// How a session works.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Tokens of context; 0 takes what the model was made for, or less where memory is short.
    pub context: u64,
    /// Most tokens of one ubatch.
    pub ubatch: u64,
    /// Types of cached keys and values.
    pub cache: CacheTypes,
    /// Only f32 arithmetic: no 8-bit products. Slower, and nearer to a reference.
    pub exact: bool,
    /// Fusion rules that are switched off; `*` is all of them.
    pub disabled_rules: Vec<String>,
    /// Where tokens are sampled.
    pub sample_on: SampleOn,
    /// Whether and how [`Session::generate`](super::Session::generate) guesses ahead. The text does not depend on it.
    pub speculation: Option<Speculation>,
    /// Give each value of a run bytes of its own, so that [`Session::inspect`](super::Session::inspect) can read it. Launches
    /// stay the same; they take more memory.
    pub keep_values: bool,
    /// Look for values that are not finite, in all that launches write, whenever so many more tokens are processed; 0 never
    /// does, 1 always. The first one found is [`RunError::NotFinite`](weft_core::run::RunError::NotFinite); results are the
    /// same without.
    pub check_finite: u64,
}

impl Default for SessionOptions {
    fn default() -> Self {
        SessionOptions {
            context: 0,
            ubatch: 512,
            cache: CacheTypes::both(DType::F16),
            exact: false,
            disabled_rules: Vec::new(),
            sample_on: SampleOn::Auto,
            speculation: None,
            keep_values: false,
            check_finite: 0,
        }
    }
}

impl SessionOptions {
    /// Exact arithmetic with an f32 cache: for comparisons with a reference.
    pub fn exact() -> Self {
        SessionOptions { exact: true, cache: DType::F32.into(), ..Self::default() }
    }
}
