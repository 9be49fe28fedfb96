//! The comparator: row by row, NaN never passes, an infinity only against the same infinity.

use weft_core::contract::Tolerance;

/// The first row that is too far off.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub row: usize,
    pub column: usize,
    pub got: f32,
    pub want: f32,
    pub nmse: f64,
    pub max_abs: f64,
}

/// Compares rows of `width` values.
///
/// # Errors
/// Unequal lengths (as a difference at the end), or the first row outside the tolerance with its worst element.
pub fn rows(got: &[f32], want: &[f32], width: usize, tolerance: Tolerance) -> Result<(), Difference> {
    if got.len() != want.len() {
        let row = got.len().min(want.len()) / width.max(1);
        return Err(Difference {
            row,
            column: 0,
            got: f32::NAN,
            want: f32::NAN,
            nmse: f64::NAN,
            max_abs: f64::NAN,
        });
    }
    for (row, (got, want)) in got.chunks(width.max(1)).zip(want.chunks(width.max(1))).enumerate() {
        let (mut error, mut power, mut worst, mut largest, mut at) = (0.0, 0.0, 0.0f64, 0.0f64, 0);
        for (column, (g, w)) in got.iter().zip(want).enumerate() {
            let same_infinity = g.is_infinite() && g == w;
            let off = if same_infinity { 0.0 } else { (f64::from(*g) - f64::from(*w)).abs() };
            // A NaN or a one-sided infinity is not a number that could be small.
            if off.is_nan() || off.is_infinite() {
                let (nmse, max_abs) = (f64::INFINITY, f64::INFINITY);
                return Err(Difference { row, column, got: *g, want: *w, nmse, max_abs });
            }
            if off > worst {
                (worst, at) = (off, column);
            }
            if !same_infinity {
                error += off * off;
                power += f64::from(*w) * f64::from(*w);
                largest = largest.max(f64::from(w.abs()));
            }
        }
        let nmse = if error == 0.0 { 0.0 } else { error / power.max(1e-30) };
        let max_abs = if worst == 0.0 { 0.0 } else { worst / largest.max(1e-30) };
        // Rows of near-zero values: an absolute floor far below any meaningful difference.
        let floor = worst <= 1e-7 && tolerance != Tolerance::EXACT;
        if !floor && nmse > tolerance.nmse_row && max_abs > tolerance.max_abs {
            return Err(Difference { row, column: at, got: got[at], want: want[at], nmse, max_abs });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOSE: Tolerance = Tolerance { nmse_row: 1.0, max_abs: 1.0 };

    #[test]
    fn nan_never_passes() {
        assert!(rows(&[f32::NAN], &[f32::NAN], 1, LOOSE).is_err());
        assert!(rows(&[1.0, f32::NAN], &[1.0, 1.0], 2, LOOSE).is_err());
        assert!(rows(&[1.0], &[f32::NAN], 1, LOOSE).is_err());
    }

    #[test]
    fn infinities_pass_only_against_themselves() {
        assert!(rows(&[f32::INFINITY], &[f32::INFINITY], 1, Tolerance::EXACT).is_ok());
        assert!(rows(&[f32::INFINITY], &[f32::NEG_INFINITY], 1, LOOSE).is_err());
        assert!(rows(&[f32::INFINITY], &[3.0], 1, LOOSE).is_err());
    }

    #[test]
    fn lengths_must_agree() {
        assert!(rows(&[1.0, 2.0], &[1.0], 1, LOOSE).is_err());
    }

    #[test]
    fn one_bad_row_is_named() {
        let mut got = vec![1.0; 40];
        got[27] = 1.5;
        let tight = Tolerance { nmse_row: 1e-6, max_abs: 1e-3 };
        let difference = rows(&got, &[1.0; 40], 10, tight).unwrap_err();
        assert_eq!((difference.row, difference.column), (2, 7));
    }
}
