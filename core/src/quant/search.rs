//! How the K types choose scales when they encode: a short deterministic search around the obvious choice, each
//! candidate refined by least squares.

use super::halves;

/// Candidate inverse steps lie at `(top + offset) / range` for these offsets.
const OFFSETS: [f32; 13] = [0.0, -0.9, -0.7, -0.5, -0.3, -0.15, 0.15, 0.3, 0.5, 0.7, 0.9, 1.2, 1.5];

/// Scale and minimum of one group: `x ≈ scale · q − minimum` with `0 ≤ q ≤ top`, both results at least zero.
///
/// Errors count `|x|` plus the group's root mean square: large weights matter most, small ones are not ignored.
pub(super) fn scale_and_minimum<const N: usize>(values: &[f32; N], top: u8) -> (f32, f32) {
    weighted_scale_and_minimum(values, &emphasis(values), top)
}

/// How much each error counts where nothing is known of the columns.
fn emphasis<const N: usize>(values: &[f32; N]) -> [f32; N] {
    let rms = (values.iter().map(|x| x * x).sum::<f32>() / N as f32).sqrt();
    values.map(|x| rms + x.abs())
}

/// The same with a weight for each error.
pub(super) fn weighted_scale_and_minimum<const N: usize>(
    values: &[f32; N],
    weights: &[f32; N],
    top: u8,
) -> (f32, f32) {
    let (low, high) = halves::range(values);
    let low = low.min(0.0);
    if !(high - low).is_finite() || high <= low {
        return (0.0, -low.max(f32::MIN));
    }

    let mut best = ((high - low) / f32::from(top), -low);
    let mut least = error_of(values, weights, top, best);
    for offset in OFFSETS {
        let inverse = (f32::from(top) + offset) / (high - low);
        let levels = values.map(|x| f32::from(halves::level((x - low) * inverse, top)));
        let Some(fit) = fit_line(values, weights, &levels) else { continue };
        let error = error_of(values, weights, top, fit);
        if error < least {
            (best, least) = (fit, error);
        }
    }
    best
}

/// The weighted least-squares `(scale, minimum)` for given levels, with the minimum held at zero where it would be
/// negative. `None` where the levels do not determine a positive scale.
fn fit_line<const N: usize>(values: &[f32; N], weights: &[f32; N], levels: &[f32; N]) -> Option<(f32, f32)> {
    let (mut w, mut wx, mut wl, mut wll, mut wxl) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for ((x, weight), level) in values.iter().zip(weights).zip(levels) {
        w += weight;
        wx += weight * x;
        wl += weight * level;
        wll += weight * level * level;
        wxl += weight * x * level;
    }
    let determinant = w * wll - wl * wl;
    let scale = (w * wxl - wx * wl) / determinant;
    let minimum = (wl * wxl - wll * wx) / determinant;
    let (scale, minimum) = if minimum < 0.0 { (wxl / wll, 0.0) } else { (scale, minimum) };
    (scale > 0.0 && scale.is_finite() && minimum.is_finite()).then_some((scale, minimum))
}

fn error_of<const N: usize>(
    values: &[f32; N],
    weights: &[f32; N],
    top: u8,
    (scale, minimum): (f32, f32),
) -> f32 {
    let inverse = halves::inverse(scale);
    let terms = values.iter().zip(weights).map(|(x, weight)| {
        let level = f32::from(halves::level((x + minimum) * inverse, top));
        let off = scale * level - minimum - x;
        weight * off * off
    });
    terms.sum()
}

/// The scale of one group of signed levels: `x ≈ scale · q` with `−top ≤ q ≤ top − 1`. The sign of the scale lets the
/// value of largest magnitude use level `−top`. With few levels errors count as in [`scale_and_minimum`], else by squares.
pub(super) fn signed_scale(values: &[f32; 16], top: f32) -> f32 {
    let weights = if top < 8.0 { emphasis(values) } else { values.map(|x| x * x) };
    weighted_signed_scale(values, &weights, top)
}

/// The same with a weight for each error.
pub(super) fn weighted_signed_scale<const N: usize>(values: &[f32; N], weights: &[f32; N], top: f32) -> f32 {
    let peak = halves::peak(values);
    if peak == 0.0 || !peak.is_finite() {
        return 0.0;
    }
    let (mut best, mut most) = (-peak / top, f32::NEG_INFINITY);
    for offset in OFFSETS {
        let inverse = -(top + offset) / peak;
        let (mut xl, mut ll) = (0.0, 0.0);
        for (x, weight) in values.iter().zip(weights) {
            let level = (x * inverse).round().clamp(-top, top - 1.0);
            xl += weight * x * level;
            ll += weight * level * level;
        }
        // The best scale for these levels is xl / ll; it removes xl² / ll of the error.
        if ll > 0.0 && xl * xl > most * ll {
            (best, most) = (xl / ll, xl * xl / ll);
        }
    }
    if best.is_finite() { best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_lines_are_found_again() {
        let values: [f32; 32] = std::array::from_fn(|j| 0.25 * ((j * 5) % 16) as f32 - 1.5);
        let (scale, minimum) = scale_and_minimum(&values, 15);
        assert!((scale - 0.25).abs() < 1e-5 && (minimum - 1.5).abs() < 1e-4, "{scale} {minimum}");
    }

    #[test]
    fn odd_groups_give_finite_scales() {
        for x in [0.0, 1.0, -1.0, 1e-45, 1e38, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let (scale, minimum) = scale_and_minimum(&[x; 32], 15);
            assert!(scale.is_finite() && minimum.is_finite(), "{x}: {scale} {minimum}");
            assert!(signed_scale(&[x; 16], 32.0).is_finite(), "{x}");
        }
    }
}
