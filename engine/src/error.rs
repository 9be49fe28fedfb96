//! Why a session could not do what it was asked.

use crate::gguf::GgufError;
use crate::models::ModelError;
use crate::sampling::SamplingError;
use crate::template::TemplateError;
use crate::tokenizer::TokenizerError;
use thiserror::Error;
use weft_core::backend::DeviceError;
use weft_core::run::RunError;

/// Any failure of loading or running a model.
#[derive(Debug, Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    #[error(transparent)]
    Gguf(#[from] GgufError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error(transparent)]
    Sampling(#[from] SamplingError),
    #[error(transparent)]
    Run(RunError),
    #[error("backend `{name}` is not known; known are: {known}")]
    NoBackend { name: String, known: String },
    #[error("the prompt is empty: give at least one token")]
    EmptyPrompt,
    #[error("token {id} is out of range: the model has {limit} tokens")]
    Token { id: u32, limit: u64 },
    #[error("{asked} tokens do not fit a context of {context}: shorten the prompt or raise the context size")]
    Context { asked: u64, context: u64 },
    #[error(
        "a context of {context} tokens needs {asked} bytes of state, {granted} are free: lower the context size"
    )]
    Memory { context: u64, asked: u64, granted: u64 },
    #[error(
        "{asked} tokens cannot be taken back, {possible} can: a recurrent state goes back only as far as its snapshots; \
         process the shorter sequence anew"
    )]
    Rewind { asked: u64, possible: u64 },
    #[error("option `{name}` is {value}: {why}")]
    Option { name: &'static str, value: String, why: &'static str },
    #[error(
        "the two sides do not compute the same: one has {a} where the other has {b}; compare options that keep the graph"
    )]
    Unlike { a: String, b: String },
    #[error("cancelled at position {position}")]
    Cancelled { position: u64 },
}

impl Error {
    /// Whether a device was lost. All that is on it is gone; opened anew, it can be used again.
    pub fn is_lost(&self) -> bool {
        matches!(self, Error::Run(RunError::Device(DeviceError::Lost { .. })))
    }
}

impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Device(DeviceError::Cancelled) => Error::Cancelled { position: 0 },
            other => Error::Run(other),
        }
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Self {
        RunError::Device(error).into()
    }
}
