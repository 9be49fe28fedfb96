//! Tokens at least some fraction as likely as the likeliest.

use super::candidates::Candidates;

/// Keeps the tokens with `p ≥ min_p · p_max`, that is `logit ≥ max + ln(min_p)`. At 0 and below nothing changes.
pub(super) fn apply(candidates: &mut Candidates, min_p: f32) {
    if min_p <= 0.0 {
        return;
    }
    let max = candidates.list.iter().map(|candidate| candidate.logit).fold(f32::NEG_INFINITY, f32::max);
    let least = max + min_p.ln();
    candidates.list.retain(|candidate| candidate.logit >= least);
}

#[cfg(test)]
mod tests {
    use super::super::candidates::tests::{ids, of};
    use super::*;

    #[test]
    fn tokens_far_below_the_likeliest_go() {
        let cases: [(f32, &[u32]); 4] =
            [(0.0, &[0, 1, 2, 3]), (0.3, &[1, 3]), (0.2, &[0, 1, 2, 3]), (1.0, &[1])];
        for (min_p, expected) in cases {
            let mut candidates = of(&[0.125, 0.5, 0.125, 0.25]);
            apply(&mut candidates, min_p);
            assert_eq!(ids(&candidates), expected, "{min_p}");
        }
    }
}
