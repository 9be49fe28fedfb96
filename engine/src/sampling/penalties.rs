//! Penalties for tokens that were there lately.

use std::collections::{HashMap, VecDeque};

use super::SamplingParams;

/// The latest tokens and how often each is among them.
#[derive(Debug, Clone, Default)]
pub(super) struct Penalties {
    window: usize,
    repeat: f32,
    frequency: f32,
    presence: f32,
    recent: VecDeque<u32>,
    counts: HashMap<u32, u32>,
}

impl Penalties {
    pub fn new(params: &SamplingParams) -> Self {
        let (repeat, frequency, presence) =
            (params.repeat_penalty, params.frequency_penalty, params.presence_penalty);
        let is_off = repeat == 1.0 && frequency == 0.0 && presence == 0.0;
        let window = if is_off { 0 } else { params.penalty_last_n as usize };
        let room = window.min(4096);
        Self {
            window,
            repeat,
            frequency,
            presence,
            recent: VecDeque::with_capacity(room + 1),
            counts: HashMap::with_capacity(room + 1),
        }
    }

    /// Takes note of a token.
    pub fn accept(&mut self, id: u32) {
        if self.window == 0 {
            return;
        }
        self.recent.push_back(id);
        *self.counts.entry(id).or_default() += 1;
        if self.recent.len() > self.window
            && let Some(old) = self.recent.pop_front()
            && let Some(count) = self.counts.get_mut(&old)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&old);
            }
        }
    }

    /// Forgets all tokens.
    pub fn reset(&mut self) {
        self.recent.clear();
        self.counts.clear();
    }

    /// `logit = (logit / repeat if logit > 0, else logit · repeat) − count · frequency − presence`, for each recent token.
    /// Excluded tokens (minus infinity) stay so; nothing rises above the largest number.
    pub fn apply(&self, logits: &mut [f32]) {
        for (id, count) in &self.counts {
            let Some(logit) = logits.get_mut(*id as usize).filter(|logit| logit.is_finite()) else {
                continue;
            };
            *logit = if *logit > 0.0 { *logit / self.repeat } else { *logit * self.repeat };
            *logit = (*logit - (*count as f32 * self.frequency + self.presence)).min(f32::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn penalised(params: SamplingParams, accepted: &[u32]) -> [f32; 4] {
        let mut penalties = Penalties::new(&params);
        accepted.iter().for_each(|id| penalties.accept(*id));
        let mut logits = [2.0, -2.0, 1.0, f32::NEG_INFINITY];
        penalties.apply(&mut logits);
        logits
    }

    #[test]
    fn each_penalty_changes_recent_tokens_as_its_rule_says() {
        let default = SamplingParams::default;
        let untouched = [2.0, -2.0, 1.0, f32::NEG_INFINITY];
        let accepted = [0, 1, 1, 3, 9];
        assert_eq!(penalised(default(), &accepted), untouched);
        let repeat = SamplingParams { repeat_penalty: 2.0, ..default() };
        assert_eq!(penalised(repeat.clone(), &accepted), [1.0, -4.0, 1.0, f32::NEG_INFINITY]);
        let frequency = SamplingParams { frequency_penalty: 0.5, ..default() };
        assert_eq!(penalised(frequency, &accepted), [1.5, -3.0, 1.0, f32::NEG_INFINITY]);
        let presence = SamplingParams { presence_penalty: 0.25, ..default() };
        assert_eq!(penalised(presence, &accepted), [1.75, -2.25, 1.0, f32::NEG_INFINITY]);
        let off = SamplingParams { penalty_last_n: 0, ..repeat };
        assert_eq!(penalised(off, &accepted), untouched);
    }

    #[test]
    fn only_the_latest_tokens_count() {
        let params = SamplingParams { presence_penalty: 1.0, penalty_last_n: 2, ..SamplingParams::default() };
        assert_eq!(penalised(params.clone(), &[0, 1, 2]), [2.0, -3.0, 0.0, f32::NEG_INFINITY]);
        assert_eq!(penalised(params.clone(), &[0, 0, 0, 2, 1]), [2.0, -3.0, 0.0, f32::NEG_INFINITY]);
        let mut penalties = Penalties::new(&params);
        penalties.accept(0);
        penalties.reset();
        let mut logits = [2.0];
        penalties.apply(&mut logits);
        assert_eq!(logits, [2.0]);
    }
}
