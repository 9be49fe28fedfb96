//! Why a synthetic model cannot be made.

use thiserror::Error;
use weft_core::quant::QuantError;

use crate::gguf::GgufError;

/// Why a synthetic model cannot be made.
#[expect(missing_docs, reason = "each variant's message names its fields")]
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SynthError {
    #[error("no synthetic architecture is called {name:?}; there are {known}")]
    Arch { name: String, known: String },
    #[error("no {arch} size is called {name:?}; there are {known}")]
    Size { arch: &'static str, name: String, known: String },
    #[error("no weight type is called {name:?}; there are {known}")]
    Weights { name: String, known: String },
    #[error("{what} is {got}; it must be {want}")]
    Shape { what: &'static str, got: u64, want: &'static str },
    #[error(transparent)]
    Gguf(#[from] GgufError),
    #[error(transparent)]
    Quant(#[from] QuantError),
}
