//! Why a file is not a model that weft can run.

use crate::gguf::{Gguf, GgufError};
use thiserror::Error;
use weft_core::graph::{DType, GraphError};
use weft_core::quant::QuantError;

/// Why a model's metadata or tensors were refused.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum ModelError {
    #[error(transparent)]
    Gguf(#[from] GgufError),
    #[error("{file}: architecture `{name}` is unknown; weft runs: {known}")]
    Architecture { file: String, name: String, known: String },
    #[error("{file}: {what} does not fit: {why}; convert the model anew, or correct the key")]
    Unfit { file: String, what: String, why: String },
    #[error(
        "{file}: tensor `{tensor}` has shape {got:?}, {want:?} expected after the metadata: convert the model anew"
    )]
    Shape { file: String, tensor: String, got: Vec<u64>, want: Vec<u64> },
    #[error("{file}: tensor `{tensor}` is of type {dtype}, which weft cannot decode yet")]
    Type { file: String, tensor: String, dtype: DType },
    #[error(
        "{file}: it has no block that drafts, since {why}: choose another kind of speculation, or a file with nextn tensors"
    )]
    NoDrafter { file: String, why: String },
    #[error(
        "{file}: it holds nothing but a block that drafts: give it beside the model, with --spec-draft-model"
    )]
    OnlyDrafter { file: String },
    #[error("{file}: tensor `{tensor}`: {source}")]
    Decode { file: String, tensor: String, source: QuantError },
    #[error("building the graph failed: {0}")]
    Graph(#[from] GraphError),
    #[error(
        "a ubatch of {tokens} tokens, {segments} segments, {cells} cells and {slots} slots is not possible: {why}"
    )]
    Batch { tokens: u64, segments: u64, cells: u64, slots: u64, why: &'static str },
}

impl ModelError {
    /// [`ModelError::Unfit`] of a file.
    pub(crate) fn unfit(gguf: &Gguf, what: &str, why: &str) -> Self {
        let (file, what, why) = (gguf.file().to_owned(), what.to_owned(), why.to_owned());
        ModelError::Unfit { file, what, why }
    }
}
