//! The parameters of a sampler.

use serde::{Deserialize, Serialize};

use super::SamplingError;
use weft_core::kernels::sample::MOST_K;

/// How a token is chosen. The defaults are llama.cpp's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SamplingParams {
    /// Added to the logits of tokens before anything else; minus infinity excludes a token. Several for one token add up.
    pub logit_bias: Vec<(u32, f32)>,
    /// Number of latest tokens that the penalties look at; 0 switches them off.
    pub penalty_last_n: u32,
    /// Logits of those tokens are divided by this if positive, else multiplied; 1 is off.
    pub repeat_penalty: f32,
    /// Taken off the logit of a token for each time it is among them; 0 is off.
    pub frequency_penalty: f32,
    /// Taken off the logit of a token once if it is among them; 0 is off.
    pub presence_penalty: f32,
    /// Keep this many of the likeliest tokens; 0 keeps all.
    pub top_k: u32,
    /// Keep the tokens whose surprise is nearest to the expected one, up to this probability; 1 is off.
    pub typical_p: f32,
    /// Keep the smallest set of likeliest tokens with at least this probability; 1 is off.
    pub top_p: f32,
    /// Keep tokens at least this fraction as likely as the likeliest; 0 is off.
    pub min_p: f32,
    /// Divides the logits that are left; at 0 or below the likeliest token is taken (of equals the first), and the filters
    /// do not matter.
    pub temperature: f32,
    /// Repeats a run; `None` takes a random one, which [`Sampler::seed`](super::Sampler::seed) tells.
    pub seed: Option<u64>,
    /// Ids from this one on are never sampled, whatever their logits (rows that only fill up the output matrix).
    pub valid_ids: Option<u32>,
}

impl Default for SamplingParams {
    fn default() -> Self {
        Self {
            logit_bias: Vec::new(),
            penalty_last_n: 64,
            repeat_penalty: 1.0,
            frequency_penalty: 0.0,
            presence_penalty: 0.0,
            top_k: 40,
            typical_p: 1.0,
            top_p: 0.95,
            min_p: 0.05,
            temperature: 0.8,
            seed: None,
            valid_ids: None,
        }
    }
}

impl SamplingParams {
    /// Whether the kernel `sample` does all that is asked: greedy, or temperature with a top-k that it has room for; no bias,
    /// no penalties, no other filters.
    pub fn is_plain(&self) -> bool {
        let penalised =
            self.repeat_penalty != 1.0 || self.frequency_penalty != 0.0 || self.presence_penalty != 0.0;
        if !self.logit_bias.is_empty() || (penalised && self.penalty_last_n > 0) {
            return false;
        }
        let filtered = self.typical_p < 1.0 || self.top_p < 1.0 || self.min_p > 0.0;
        self.temperature <= 0.0 || ((1..=MOST_K).contains(&self.top_k) && !filtered)
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// `Parameter` for one outside its range, `BiasedToken` for a bias on an id that is not valid.
    pub fn validate(&self) -> Result<(), SamplingError> {
        let fraction = |value: f32| (0.0..=1.0).contains(&value);
        let checks = [
            ("repeat_penalty", self.repeat_penalty, "a number above 0", {
                self.repeat_penalty.is_finite() && self.repeat_penalty > 0.0
            }),
            ("frequency_penalty", self.frequency_penalty, "a number", self.frequency_penalty.is_finite()),
            ("presence_penalty", self.presence_penalty, "a number", self.presence_penalty.is_finite()),
            ("typical_p", self.typical_p, "between 0 and 1", fraction(self.typical_p)),
            ("top_p", self.top_p, "between 0 and 1", fraction(self.top_p)),
            ("min_p", self.min_p, "between 0 and 1", fraction(self.min_p)),
            ("temperature", self.temperature, "a number", self.temperature.is_finite()),
        ];
        for (name, value, allowed, holds) in checks {
            if !holds {
                return Err(SamplingError::Parameter { name, value: value.into(), allowed });
            }
        }
        if self.valid_ids == Some(0) {
            return Err(SamplingError::Parameter { name: "valid_ids", value: 0.0, allowed: "at least 1" });
        }
        for (id, bias) in &self.logit_bias {
            if bias.is_nan() || *bias == f32::INFINITY {
                let (value, allowed) = (f64::from(*bias), "a number or minus infinity");
                return Err(SamplingError::Parameter { name: "logit_bias", value, allowed });
            }
            if let Some(valid) = self.valid_ids.filter(|valid| id >= valid) {
                return Err(SamplingError::BiasedToken { id: *id, valid_ids: valid as usize });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_named() {
        let name = |change: fn(&mut SamplingParams)| {
            let mut params = SamplingParams::default();
            change(&mut params);
            match params.validate() {
                Err(SamplingError::Parameter { name, .. }) => name,
                Err(SamplingError::BiasedToken { .. }) => "bias of an invalid id",
                _ => "",
            }
        };
        assert_eq!(name(|_| ()), "");
        assert_eq!(name(|params| params.temperature = -1.0), "");
        assert_eq!(name(|params| params.logit_bias = vec![(3, f32::NEG_INFINITY)]), "");
        assert_eq!(name(|params| params.temperature = f32::NAN), "temperature");
        assert_eq!(name(|params| params.top_p = 1.5), "top_p");
        assert_eq!(name(|params| params.top_p = f32::NAN), "top_p");
        assert_eq!(name(|params| params.min_p = -0.1), "min_p");
        assert_eq!(name(|params| params.typical_p = 2.0), "typical_p");
        assert_eq!(name(|params| params.repeat_penalty = 0.0), "repeat_penalty");
        assert_eq!(name(|params| params.frequency_penalty = f32::INFINITY), "frequency_penalty");
        assert_eq!(name(|params| params.presence_penalty = f32::NAN), "presence_penalty");
        assert_eq!(name(|params| params.logit_bias = vec![(3, f32::NAN)]), "logit_bias");
        assert_eq!(name(|params| params.valid_ids = Some(0)), "valid_ids");
        let invalid = name(|params| (params.valid_ids, params.logit_bias) = (Some(3), vec![(3, 1.0)]));
        assert_eq!(invalid, "bias of an invalid id");
    }

    #[test]
    fn plain_parameters_are_those_that_a_device_knows() {
        let plain = SamplingParams { top_k: 40, top_p: 1.0, min_p: 0.0, ..SamplingParams::default() };
        let is_plain = |change: fn(&mut SamplingParams)| {
            let mut params = plain.clone();
            change(&mut params);
            params.is_plain()
        };
        assert!(is_plain(|_| ()));
        assert!(is_plain(|params| params.valid_ids = Some(7)));
        assert!(is_plain(|params| (params.presence_penalty, params.penalty_last_n) = (1.0, 0)));
        assert!(is_plain(|params| (params.temperature, params.top_k, params.top_p) = (0.0, 0, 0.5)));
        assert!(!SamplingParams::default().is_plain());
        assert!(!is_plain(|params| params.top_k = 0));
        assert!(!is_plain(|params| params.top_k = 65));
        assert!(!is_plain(|params| params.top_p = 0.9));
        assert!(!is_plain(|params| params.min_p = 0.1));
        assert!(!is_plain(|params| params.typical_p = 0.9));
        assert!(!is_plain(|params| params.logit_bias = vec![(1, 0.0)]));
        assert!(!is_plain(|params| (params.presence_penalty, params.temperature) = (1.0, 0.0)));
    }

    #[test]
    fn missing_fields_take_the_defaults() {
        let read: Result<SamplingParams, _> =
            serde_json::from_str(r#"{"top_k": 7, "logit_bias": [[5, -2.5]]}"#);
        let expected = SamplingParams { top_k: 7, logit_bias: vec![(5, -2.5)], ..SamplingParams::default() };
        assert_eq!(read.ok(), Some(expected));
    }
}
