//! What a session's runs did: claims, fallbacks, revocations and splits, counted whether anybody listens or not.

use weft_core::plan::Tally;

/// Counts of a session. They come from the plans that ran, never from what was logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Runs of plans.
    pub runs: u64,
    /// Tokens that they processed.
    pub tokens: u64,
    /// What the runs did, added up.
    pub all: Tally,
}

impl Counters {
    pub(super) fn ran(&mut self, tokens: u64, tally: &Tally) {
        self.runs += 1;
        self.tokens += tokens;
        self.all.add(tally);
    }

    /// A count for each run; 0 if there were none.
    pub fn per_run(&self, count: u64) -> f64 {
        if self.runs == 0 { 0.0 } else { count as f64 / self.runs as f64 }
    }

    /// A count for each token; 0 if there were none.
    pub fn per_token(&self, count: u64) -> f64 {
        if self.tokens == 0 { 0.0 } else { count as f64 / self.tokens as f64 }
    }
}
