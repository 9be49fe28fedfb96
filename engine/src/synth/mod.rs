//! Synthetic models: random weights in files of any size, for tests and for measurements without a download.
//!
//! Weights are scaled so that activations, states and logits stay finite over any number of tokens. The same
//! specification gives the same bytes everywhere.

mod error;
mod keys;
mod qwen4exp;
mod random;
mod spec;
mod tables;
mod weights;
mod write;

pub use error::SynthError;
pub use qwen4exp::Extras;
pub use spec::{Experts, Shape, SynthArch, SynthSpec};
pub use weights::Weights;
pub use write::{Progress, write, write_to};
