//! Runs hybrid Gated-DeltaNet language models from GGUF files.
//!
//! ```no_run
//! use std::ops::ControlFlow;
//! use weft::sampling::{Sampler, SamplingParams};
//! use weft::session::{GenerateOptions, Session, SessionOptions};
//!
//! # fn main() -> Result<(), weft::Error> {
//! let backends = weft::backends::open("auto", &Default::default())?;
//! let model = weft::Model::open("model.gguf", backends)?;
//! let mut session = Session::new(&model, SessionOptions::default())?;
//! let ids = model.tokenizer().encode("Once upon a time", Default::default())?;
//! session.prefill(&ids)?;
//! let mut sampler = Sampler::new(SamplingParams::default())?;
//! let options = GenerateOptions { max_tokens: 100, ..GenerateOptions::default() };
//! session.generate(&mut sampler, &options, |text| {
//!     print!("{text}");
//!     ControlFlow::Continue(())
//! })?;
//! # Ok(())
//! # }
//! ```
#![deny(missing_docs)]

pub mod backends;
#[cfg(feature = "default-model")]
mod default_model;
mod error;
pub mod gguf;
mod model;
pub mod models;
pub mod quantize;
pub mod sampling;
pub mod session;
pub mod synth;
pub mod template;
pub mod tokenizer;

pub use error::Error;
pub use model::Model;
