//! How far two tensors are apart.

use crate::graph::DType;
use crate::quant::{self, QuantError};
use serde::Serialize;

/// What sets the values of `b` apart from those of `a`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Squared error over squared values of `a`; infinite where one side alone is not a number.
    pub nmse: f64,
    /// Largest absolute error.
    pub max_abs: f64,
    /// Floats of the type between the two values that are furthest apart so; none for quantised types and integers.
    pub ulp: Option<u64>,
    /// Values that differ in any bit.
    pub unequal: u64,
    /// Index, in packed order, of the value with the largest absolute error.
    pub at: u64,
    /// Its value in `a` and in `b`.
    pub values: (f64, f64),
}

impl Difference {
    /// Compares packed values of a type, `a` taken for right.
    ///
    /// # Errors
    /// The type cannot be decoded, or the two are not equally long.
    pub fn between(dtype: DType, a: &[u8], b: &[u8]) -> Result<Self, QuantError> {
        let bytes = dtype.block_bytes() as usize;
        let values = (a.len() / bytes) as u64 * dtype.block_values();
        if a.len() != b.len() {
            let (want, got) = (a.len() as u64, b.len() as u64);
            return Err(QuantError::Length { dtype, values, want, got });
        }
        let mut all =
            Difference { nmse: 0.0, max_abs: 0.0, ulp: None, unequal: 0, at: 0, values: (0.0, 0.0) };
        let (mut error, mut power) = (0.0, 0.0);
        let (a_values, b_values) = (decoded(dtype, a)?, decoded(dtype, b)?);
        for (at, (x, y)) in a_values.iter().zip(&b_values).enumerate() {
            if x.is_finite() {
                power += x * x;
            }
            // The same infinity or NaN on both sides is no difference.
            if x.to_bits() == y.to_bits() || x == y || (x.is_nan() && y.is_nan()) {
                continue;
            }
            all.unequal += 1;
            let off = (x - y).abs();
            let off = if off.is_nan() { f64::INFINITY } else { off };
            error += off * off;
            if off > all.max_abs {
                (all.max_abs, all.at, all.values) = (off, at as u64, (*x, *y));
            }
        }
        all.nmse = if error == 0.0 { 0.0 } else { error / power.max(f64::MIN_POSITIVE) };
        all.ulp = match dtype {
            DType::F32 => Some(steps(a, b, |b: [u8; 4]| i64::from(i32::from_le_bytes(b)), 31)),
            DType::F16 | DType::BF16 => Some(steps(a, b, |b: [u8; 2]| i64::from(i16::from_le_bytes(b)), 15)),
            _ => None,
        };
        Ok(all)
    }

    /// Whether no value differs.
    pub fn is_none(&self) -> bool {
        self.unequal == 0
    }
}

fn decoded(dtype: DType, bytes: &[u8]) -> Result<Vec<f64>, QuantError> {
    Ok(match dtype {
        DType::I32 => bytes.as_chunks().0.iter().map(|b| f64::from(i32::from_le_bytes(*b))).collect(),
        DType::I64 => bytes.as_chunks().0.iter().map(|b| i64::from_le_bytes(*b) as f64).collect(),
        _ => {
            let blocks = bytes.len() / dtype.block_bytes() as usize;
            let mut values = vec![0.0; blocks * dtype.block_values() as usize];
            quant::decode_row(dtype, bytes, &mut values)?;
            values.into_iter().map(f64::from).collect()
        }
    })
}

/// The most steps between two numbers of which the bits, read as an integer, have their sign at bit `sign`.
fn steps<const N: usize>(a: &[u8], b: &[u8], bits: impl Fn([u8; N]) -> i64, sign: u32) -> u64 {
    // Sign and magnitude to one line of integers: neighbours on it are neighbouring floats.
    let place = |number: [u8; N]| {
        let bits = bits(number);
        if bits < 0 { -(bits + (1 << sign)) } else { bits }
    };
    let pairs = a.as_chunks().0.iter().zip(b.as_chunks().0);
    pairs.map(|(a, b)| place(*a).abs_diff(place(*b))).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(a: &[f32], b: &[f32]) -> Difference {
        let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        Difference::between(DType::F32, &bytes(a), &bytes(b)).unwrap()
    }

    #[test]
    fn counts_steps_over_zero() {
        let tiny = f32::from_bits(1);
        assert_eq!(between(&[tiny, 1.0], &[-tiny, 1.0]).ulp, Some(2));
        assert_eq!(between(&[0.0], &[-0.0]).ulp, Some(0));
    }

    #[test]
    fn finds_the_worst_value() {
        let found = between(&[1.0, 2.0, 2.0], &[1.0, 2.5, 2.25]);
        assert_eq!((found.at, found.values, found.unequal), (1, (2.0, 2.5), 2));
        assert!((found.nmse - 0.3125 / 9.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn what_is_no_number_on_one_side_alone_is_infinitely_far() {
        assert!(between(&[f32::NAN, f32::INFINITY], &[f32::NAN, f32::INFINITY]).is_none());
        assert_eq!(between(&[1.0], &[f32::NAN]).nmse, f64::INFINITY);
        assert_eq!(between(&[f32::INFINITY], &[f32::NEG_INFINITY]).max_abs, f64::INFINITY);
    }

    #[test]
    fn refuses_what_is_not_equally_long() {
        assert!(Difference::between(DType::F32, &[0; 8], &[0; 4]).is_err());
    }
}
