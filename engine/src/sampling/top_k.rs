//! The likeliest tokens, found in one pass over all logits.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::candidates::{Candidate, Candidates};

/// Finds the `k` largest of a list of logits.
#[derive(Debug, Clone, Default)]
pub(super) struct TopK {
    /// The best so far, the worst of them on top.
    best: BinaryHeap<Reverse<u64>>,
}

impl TopK {
    /// Fills `candidates` with the `k` largest logits, sorted; of equal logits those with smaller ids. With `k` of 0 or
    /// beyond the number of logits it takes all, in the order of their ids.
    pub fn gather(&mut self, logits: &[f32], k: usize, candidates: &mut Candidates) {
        let list = &mut candidates.list;
        list.clear();
        candidates.sorted = k != 0 && k < logits.len();
        if !candidates.sorted {
            list.extend((0u32..).zip(logits).map(|(id, logit)| Candidate {
                id,
                logit: *logit,
                probability: 0.0,
            }));
            return;
        }
        self.best.clear();
        let mut worst = f32::NEG_INFINITY;
        for (id, logit) in (0u32..).zip(logits) {
            // A later id never displaces an earlier one of the same logit.
            if self.best.len() < k {
                self.best.push(Reverse(key(*logit, id)));
            } else if *logit > worst {
                self.best.pop();
                self.best.push(Reverse(key(*logit, id)));
            } else {
                continue;
            }
            if self.best.len() == k
                && let Some(Reverse(top)) = self.best.peek()
            {
                worst = logits[id_of(*top) as usize];
            }
        }
        let found = self.best.drain().map(|Reverse(key)| id_of(key));
        list.extend(found.map(|id| Candidate { id, logit: logits[id as usize], probability: 0.0 }));
        list.sort_unstable_by(Candidate::likelier_first);
    }
}

/// A number that orders as the logit does, and among equal logits the other way round than the id.
fn key(logit: f32, id: u32) -> u64 {
    // Adding zero makes −0 the same as 0.
    let bits = (logit + 0.0).to_bits();
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    u64::from(ordered) << 32 | u64::from(!id)
}

fn id_of(key: u64) -> u32 {
    !(key as u32)
}

#[cfg(test)]
mod tests {
    use super::super::candidates::tests::ids;
    use super::*;

    #[test]
    fn the_largest_come_out_sorted_and_ties_by_id() {
        let logits = [1.0, 5.0, -0.0, 5.0, 0.0, f32::NEG_INFINITY, 7.0, 5.0];
        let cases: [(usize, &[u32]); 6] = [
            (1, &[6]),
            (2, &[6, 1]),
            (3, &[6, 1, 3]),
            (5, &[6, 1, 3, 7, 0]),
            (6, &[6, 1, 3, 7, 0, 2]),
            (7, &[6, 1, 3, 7, 0, 2, 4]),
        ];
        let (mut top_k, mut candidates) = (TopK::default(), Candidates::default());
        for (k, expected) in cases {
            top_k.gather(&logits, k, &mut candidates);
            assert_eq!(ids(&candidates), expected);
            assert!(candidates.sorted);
        }
        for k in [0, 8, 100] {
            top_k.gather(&logits, k, &mut candidates);
            assert_eq!(ids(&candidates), [0, 1, 2, 3, 4, 5, 6, 7]);
            assert!(!candidates.sorted);
        }
    }

    #[test]
    fn the_pass_agrees_with_a_full_sort() {
        let mut random = super::super::random::Random::new(3);
        let logits: Vec<f32> = (0..5000).map(|_| (random.uniform() * 50.0).round() as f32 / 4.0).collect();
        let mut sorted: Vec<u32> = (0..5000).collect();
        sorted.sort_by(|a, b| logits[*b as usize].total_cmp(&logits[*a as usize]).then(a.cmp(b)));
        let (mut top_k, mut candidates) = (TopK::default(), Candidates::default());
        for k in [1, 2, 39, 40, 41, 1000, 4999] {
            top_k.gather(&logits, k, &mut candidates);
            assert_eq!(ids(&candidates), sorted[..k]);
        }
    }
}
