//! Nucleus sampling: the smallest set of likeliest tokens with enough probability.

use super::candidates::{Candidate, Candidates};

/// How many candidates are sorted at first; eight times as many each time that they do not suffice.
const FIRST_BATCH: usize = 256;

/// Keeps the likeliest tokens up to the one with which their probability reaches `top_p`, sorted. At 1 and above nothing
/// changes.
pub(super) fn apply(candidates: &mut Candidates, top_p: f32) {
    if top_p >= 1.0 {
        return;
    }
    candidates.weigh(1.0);
    let list = &mut candidates.list;
    let mut batch = FIRST_BATCH;
    loop {
        let count = if candidates.sorted { list.len() } else { batch.min(list.len()) };
        if !candidates.sorted {
            if count < list.len() {
                list.select_nth_unstable_by(count - 1, Candidate::likelier_first);
            }
            list[..count].sort_unstable_by(Candidate::likelier_first);
        }
        let mut reached = 0.0;
        let kept = list[..count].iter().position(|candidate| {
            reached += candidate.probability;
            reached >= f64::from(top_p)
        });
        if kept.is_some() || count == list.len() {
            list.truncate(kept.map_or(count, |last| last + 1));
            candidates.sorted = true;
            return;
        }
        batch *= 8;
    }
}

#[cfg(test)]
mod tests {
    use super::super::candidates::tests::{ids, of};
    use super::*;

    #[test]
    fn the_nucleus_is_the_smallest_set_that_suffices() {
        let cases: [(f32, &[u32]); 6] = [
            (0.0, &[1]),
            (0.5, &[1]),
            (0.51, &[1, 3]),
            (0.75, &[1, 3]),
            (0.8, &[1, 3, 0]),
            (0.999, &[1, 3, 0, 2]),
        ];
        for (top_p, expected) in cases {
            let mut candidates = of(&[0.125, 0.5, 0.125, 0.25]);
            apply(&mut candidates, top_p);
            assert_eq!(ids(&candidates), expected, "{top_p}");
        }
        let mut candidates = of(&[0.125, 0.5, 0.125, 0.25]);
        apply(&mut candidates, 1.0);
        assert_eq!(ids(&candidates), [0, 1, 2, 3]);
    }

    #[test]
    fn partial_sorting_agrees_with_a_full_sort() {
        let weights: Vec<f32> = (0..20_000u32).map(|id| ((id * 7919) % 101 + 1) as f32).collect();
        for top_p in [0.0001, 0.01, 0.3, 0.9, 0.9999] {
            let mut partial = of(&weights);
            apply(&mut partial, top_p);
            let mut full = of(&weights);
            full.list.sort_by(Candidate::likelier_first);
            full.sorted = true;
            apply(&mut full, top_p);
            assert_eq!(ids(&partial).len(), ids(&full).len());
            assert_eq!(ids(&partial), ids(&full));
        }
    }
}
