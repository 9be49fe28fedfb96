//! Why a file cannot be quantised.

use thiserror::Error;
use weft_core::graph::DType;
use weft_core::quant::QuantError;

use crate::gguf::GgufError;

/// Why a file cannot be quantised.
#[expect(missing_docs, reason = "each variant's message names its fields")]
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum QuantizeError {
    #[error("no weight type is called {name:?}; there are {known}")]
    Type { name: String, known: String },
    #[error(
        "{file}: the tensor {tensor:?} is {dtype} already: quantise from F32, F16 or BF16, or allow a second loss"
    )]
    Quantised { file: String, tensor: String, dtype: DType },
    #[error("{file}: the tensor {tensor:?} has the type {dtype}, which weft cannot decode")]
    Undecodable { file: String, tensor: String, dtype: DType },
    #[error("{file}: not an importance matrix: {why}")]
    Importance { file: String, why: String },
    #[error(
        "{file}: the importance of {tensor:?} holds {got} numbers, not {want}: it was made for another model"
    )]
    ImportanceShape { file: String, tensor: String, want: u64, got: u64 },
    #[error(transparent)]
    Gguf(#[from] GgufError),
    #[error(transparent)]
    Quant(#[from] QuantError),
}
