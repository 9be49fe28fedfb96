//! PLACEHOLDER for the sampling helper: replace this whole file; keep these names, which session and cli already call.

/// Why a token could not be sampled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// Not a number.
    #[error("logit {index} is {value}")]
    NotFinite {
        /// Which.
        index: usize,
        /// What.
        value: f32,
    },
}

/// Parameters.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "placeholder")]
pub struct SamplingParams {
    pub temperature: f32,
    pub top_k: u32,
    pub top_p: f32,
    pub min_p: f32,
    pub repeat_penalty: f32,
    pub presence_penalty: f32,
    pub frequency_penalty: f32,
    pub penalty_last_n: u32,
    pub logit_bias: Vec<(u32, f32)>,
    pub seed: Option<u64>,
    pub valid_ids: Option<u32>,
}

/// A sampler.
pub struct Sampler;

#[expect(missing_docs, reason = "placeholder")]
impl Sampler {
    pub fn new(_: SamplingParams) -> Result<Self, SamplingError> {
        Ok(Sampler)
    }
    pub fn accept(&mut self, _: u32) {}
    pub fn reset(&mut self) {}
    pub fn seed(&self) -> u64 {
        0
    }
    pub fn sample(&mut self, logits: &[f32]) -> Result<u32, SamplingError> {
        let mut best = 0;
        for (i, v) in logits.iter().enumerate() {
            if *v > logits[best] {
                best = i;
            }
        }
        Ok(best as u32)
    }
}
