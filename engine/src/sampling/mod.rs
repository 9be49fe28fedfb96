//! Logits to a token: bias, penalties, filters and a draw that a seed repeats.
//!
//! The steps and their order are those of llama.cpp's default chain: logit bias, penalties, top-k, typical-p, top-p, min-p,
//! temperature, draw. Temperature comes last, so the filters see the distribution as the model gave it.

mod candidates;
mod error;
mod min_p;
mod params;
mod penalties;
mod random;
mod sampler;
#[cfg(test)]
mod tests;
mod top_k;
mod top_p;
mod typical_p;

pub use candidates::Candidate;
pub use error::SamplingError;
pub use params::SamplingParams;
pub use sampler::Sampler;
