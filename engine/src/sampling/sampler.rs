//! The chain itself.

use super::candidates::Candidates;
use super::penalties::Penalties;
use super::random::{Random, any_seed};
use super::top_k::TopK;
use super::{Candidate, SamplingError, SamplingParams, min_p, top_p, typical_p};
use weft_core::kernels::sample::Draw;

/// Chooses tokens for one sequence. After the first token it allocates nothing more.
#[derive(Debug, Clone)]
pub struct Sampler {
    params: SamplingParams,
    seed: u64,
    random: Random,
    /// Draws that devices were asked for.
    drawn: u32,
    penalties: Penalties,
    top_k: TopK,
    /// The logits after bias and penalties.
    logits: Vec<f32>,
    candidates: Candidates,
}

impl Sampler {
    /// A sampler at the beginning of a sequence.
    ///
    /// # Errors
    /// As [`SamplingParams::validate`].
    pub fn new(params: SamplingParams) -> Result<Self, SamplingError> {
        params.validate()?;
        let seed = params.seed.unwrap_or_else(any_seed);
        Ok(Self {
            seed,
            random: Random::new(seed),
            drawn: 0,
            penalties: Penalties::new(&params),
            top_k: TopK::default(),
            logits: Vec::new(),
            candidates: Candidates::default(),
            params,
        })
    }

    /// The seed in use, given or random.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The parameters in use.
    pub fn params(&self) -> &SamplingParams {
        &self.params
    }

    /// Takes note of a token of the sequence, so that penalties know it: every token of the prompt, then every sampled one.
    pub fn accept(&mut self, id: u32) {
        self.penalties.accept(id);
    }

    /// Forgets the tokens of the sequence. The draws go on where they were.
    pub fn reset(&mut self) {
        self.penalties.reset();
    }

    /// Chooses a token from the logits of one position. It is not accepted by itself.
    ///
    /// # Errors
    /// `NotFinite` names the first logit that is NaN or infinite, `AllExcluded` if none is above minus infinity, `Empty` if
    /// there are none, `BiasedToken` if a bias is for a token beyond them. Logits of ids that are not valid are not looked
    /// at.
    pub fn sample(&mut self, logits: &[f32]) -> Result<u32, SamplingError> {
        let _span = tracing::trace_span!("sample").entered();
        if self.params.temperature <= 0.0 {
            self.adjust(logits)?;
            return self.greedy();
        }
        self.distribution(logits)?;
        let point = self.random.uniform();
        self.candidates.at(point).ok_or(SamplingError::AllExcluded { count: self.logits.len() })
    }

    /// The next draw, for the kernel `sample` on a device; `None` where the parameters ask for more than it does.
    ///
    /// A device's draws repeat with the seed as [`sample`](Self::sample)'s do, and are others than those: the two
    /// generators differ. Where `sample` refuses logits that are not finite, a device leaves them out.
    pub fn draw(&mut self) -> Option<Draw> {
        if !self.params.is_plain() {
            return None;
        }
        let SamplingParams { temperature, top_k, valid_ids, .. } = self.params;
        let counter = self.drawn;
        self.drawn = self.drawn.wrapping_add(1);
        Some(Draw { temperature, top_k, seed: self.seed, counter, limit: valid_ids.unwrap_or(0) })
    }

    /// Gives back the last of [`draw`](Self::draw)'s draws, which nothing was made of.
    pub fn give_back(&mut self, draws: usize) {
        self.drawn = self.drawn.wrapping_sub(draws as u32);
    }

    /// The tokens that [`sample`](Self::sample) would draw from, with their probabilities; a single one if the temperature
    /// is 0 or below. Nothing is drawn.
    ///
    /// # Errors
    /// As [`sample`](Self::sample).
    pub fn distribution(&mut self, logits: &[f32]) -> Result<&[Candidate], SamplingError> {
        self.adjust(logits)?;
        let SamplingParams { top_k, typical_p, top_p, min_p, temperature, .. } = self.params;
        if temperature <= 0.0 {
            let id = self.greedy()?;
            self.candidates.list.clear();
            self.candidates.list.push(Candidate { id, logit: self.logits[id as usize], probability: 1.0 });
            return Ok(&self.candidates.list);
        }
        self.top_k.gather(&self.logits, top_k as usize, &mut self.candidates);
        typical_p::apply(&mut self.candidates, typical_p);
        top_p::apply(&mut self.candidates, top_p);
        min_p::apply(&mut self.candidates, min_p);
        self.candidates.weigh(temperature);
        Ok(&self.candidates.list)
    }

    /// Copies the valid logits, checks them, and applies bias and penalties.
    fn adjust(&mut self, logits: &[f32]) -> Result<(), SamplingError> {
        let count = self.params.valid_ids.map_or(logits.len(), |valid| logits.len().min(valid as usize));
        let valid = &logits[..count];
        if count == 0 {
            return Err(SamplingError::Empty);
        }
        // NaN is not below infinity either. No early end, so that the compiler can look at many at once.
        if !valid.iter().fold(true, |fine, logit| fine & (*logit < f32::INFINITY)) {
            let bad = valid.iter().position(|logit| logit.is_nan() || *logit == f32::INFINITY).unwrap_or(0);
            return Err(SamplingError::NotFinite { index: bad, value: valid[bad] });
        }
        self.logits.clear();
        self.logits.extend_from_slice(valid);
        for (id, bias) in &self.params.logit_bias {
            match self.logits.get_mut(*id as usize) {
                Some(logit) => *logit = (*logit + bias).min(f32::MAX),
                None => return Err(SamplingError::BiasedToken { id: *id, valid_ids: count }),
            }
        }
        self.penalties.apply(&mut self.logits);
        if largest(&self.logits) == f32::NEG_INFINITY {
            return Err(SamplingError::AllExcluded { count });
        }
        Ok(())
    }

    /// The first of the largest logits.
    fn greedy(&self) -> Result<u32, SamplingError> {
        let largest = largest(&self.logits);
        let found = (0u32..).zip(&self.logits).find(|(_, logit)| **logit == largest);
        found.map(|(id, _)| id).ok_or(SamplingError::AllExcluded { count: self.logits.len() })
    }
}

/// The largest logit, found eight at a time.
fn largest(logits: &[f32]) -> f32 {
    let (eights, rest) = logits.as_chunks::<8>();
    let mut best = [f32::NEG_INFINITY; 8];
    for eight in eights {
        for (best, logit) in best.iter_mut().zip(eight) {
            *best = if *logit > *best { *logit } else { *best };
        }
    }
    best.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}
