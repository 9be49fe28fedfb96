//! What took how long, prompt and decode apart.

use std::time::Duration;

/// Counts and times of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Prompt tokens processed.
    pub prompt_tokens: u64,
    /// Time of prompts, planning included.
    pub prompt: Duration,
    /// Tokens decoded.
    pub decoded_tokens: u64,
    /// Time of decoding, planning included.
    pub decode: Duration,
    /// Tokens that a drafter guessed.
    pub drafted_tokens: u64,
    /// Guesses that came true; they count as decoded too.
    pub kept_tokens: u64,
    /// Time of planning and compiling.
    pub planning: Duration,
}

impl Timings {
    /// Prompt tokens per second; 0 if there were none.
    pub fn prompt_rate(&self) -> f64 {
        rate(self.prompt_tokens, self.prompt)
    }

    /// Decoded tokens per second; 0 if there were none.
    pub fn decode_rate(&self) -> f64 {
        rate(self.decoded_tokens, self.decode)
    }
}

fn rate(count: u64, time: Duration) -> f64 {
    if count == 0 || time.is_zero() { 0.0 } else { count as f64 / time.as_secs_f64() }
}
