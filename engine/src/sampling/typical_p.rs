//! Locally typical sampling (Meister et al. 2022): tokens about as surprising as is to be expected.

use super::candidates::Candidates;

/// Keeps the tokens whose surprise `−ln p` is nearest to the entropy `−Σ p ln p`, up to the first with which their
/// probability exceeds `typical_p`. At 1 and above nothing changes.
pub(super) fn apply(candidates: &mut Candidates, typical_p: f32) {
    if typical_p >= 1.0 {
        return;
    }
    candidates.weigh(1.0);
    let list = &mut candidates.list;
    let surprising = list.iter().map(|candidate| candidate.probability).filter(|p| *p > 0.0);
    let entropy: f64 = surprising.map(|p| -p * p.ln()).sum();
    let distance = |probability: f64| (-probability.ln() - entropy).abs();
    list.sort_unstable_by(|one, other| {
        distance(one.probability).total_cmp(&distance(other.probability)).then(one.id.cmp(&other.id))
    });
    let mut reached = 0.0;
    let kept = list.iter().position(|candidate| {
        reached += candidate.probability;
        reached > f64::from(typical_p)
    });
    list.truncate(kept.map_or(list.len(), |last| last + 1));
    candidates.sorted = false;
}

#[cfg(test)]
mod tests {
    use super::super::candidates::tests::{ids, of};
    use super::*;

    #[test]
    fn the_most_typical_tokens_are_kept() {
        // Entropy 1.2130; surprises 0.6931, 1.3863, 1.8971, 2.3026; distances 0.520, 0.173, 0.684, 1.090.
        let cases: [(f32, &[u32]); 5] =
            [(1.0, &[0, 1, 2, 3]), (0.95, &[1, 0, 2, 3]), (0.8, &[1, 0, 2]), (0.5, &[1, 0]), (0.2, &[1])];
        for (typical_p, expected) in cases {
            let mut candidates = of(&[0.5, 0.25, 0.15, 0.1]);
            apply(&mut candidates, typical_p);
            assert_eq!(ids(&candidates), expected, "{typical_p}");
        }
    }

    #[test]
    fn excluded_tokens_are_never_typical() {
        let mut candidates = of(&[0.0, 1.0, 0.0]);
        apply(&mut candidates, 0.5);
        assert_eq!(ids(&candidates), [1]);
    }
}
