//! The tokens still in question.

use std::cmp::Ordering;

/// A token that may be sampled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The token.
    pub id: u32,
    /// Its logit, after bias and penalties.
    pub logit: f32,
    /// Its probability among the candidates.
    pub probability: f64,
}

impl Candidate {
    /// The likelier first; of equals the smaller id.
    pub(super) fn likelier_first(one: &Self, other: &Self) -> Ordering {
        other.logit.partial_cmp(&one.logit).unwrap_or(Ordering::Equal).then(one.id.cmp(&other.id))
    }
}

/// The candidates, with what is known of their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    pub list: Vec<Candidate>,
    /// Whether the likelier come first.
    pub sorted: bool,
}

impl Candidates {
    /// Sets every probability: `exp((logit − max) / temperature)`, scaled to a sum of one.
    pub fn weigh(&mut self, temperature: f32) {
        let max = self.list.iter().map(|candidate| candidate.logit).fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for candidate in &mut self.list {
            candidate.probability = (f64::from(candidate.logit - max) / f64::from(temperature)).exp();
            sum += candidate.probability;
        }
        for candidate in &mut self.list {
            candidate.probability /= sum;
        }
    }

    /// The candidate at a point of the unit interval, on which each takes as much room as it is probable.
    pub fn at(&self, point: f64) -> Option<u32> {
        let mut reached = 0.0;
        let mut last = None;
        for candidate in self.list.iter().filter(|candidate| candidate.probability > 0.0) {
            reached += candidate.probability;
            last = Some(candidate.id);
            if point < reached {
                break;
            }
        }
        last
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Candidates 0, 1, 2, … with probabilities proportional to the given ones.
    pub fn of(probabilities: &[f32]) -> Candidates {
        let list = (0u32..).zip(probabilities);
        let list = list.map(|(id, p)| Candidate { id, logit: p.ln(), probability: 0.0 }).collect();
        Candidates { list, sorted: false }
    }

    /// The ids that are left, in order.
    pub fn ids(candidates: &Candidates) -> Vec<u32> {
        candidates.list.iter().map(|candidate| candidate.id).collect()
    }

    #[test]
    fn temperature_sharpens_and_flattens() {
        let mut candidates = of(&[1.0, 3.0]);
        for (temperature, expected) in [(1.0, 0.75), (0.5, 0.9), (2.0, 3f64.sqrt() / (1.0 + 3f64.sqrt()))] {
            candidates.weigh(temperature);
            assert!((candidates.list[1].probability - expected).abs() < 1e-6);
        }
        candidates.weigh(1e-30);
        assert_eq!(candidates.list[1].probability, 1.0);
    }

    #[test]
    fn points_fall_where_probability_lies() {
        let mut candidates = of(&[0.5, 0.0, 0.25, 0.25]);
        candidates.weigh(1.0);
        let picked = [0.0, 0.49, 0.51, 0.74, 0.76, 0.999_999, 1.0].map(|point| candidates.at(point));
        assert_eq!(picked, [0, 0, 2, 2, 3, 3, 3].map(Some));
        assert_eq!(Candidates::default().at(0.5), None);
    }
}
