//! How far two results are apart.

use crate::graph::DType;
use crate::quant;
use std::fmt::{self, Display, Formatter};

/// The distance of two tensors of one type and size. NaN against anything but the same bytes is infinitely far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// How many values were compared.
    pub values: u64,
    /// How many differ in a bit.
    pub different: u64,
    /// Mean square error over mean square of the second.
    pub nmse: f64,
    /// Largest absolute error.
    pub max_abs: f64,
    /// The largest magnitude of the second.
    pub largest: f64,
    /// Largest distance in units of the last place: how many numbers of the type lie between.
    pub ulp: u64,
    /// Index of the first value that differs.
    pub first: Option<u64>,
    /// How many values of the first are not finite where those of the second are.
    pub not_finite: u64,
}

impl Difference {
    /// Compares packed values of a type. Unequal lengths differ from the end of the shorter.
    pub fn of(dtype: DType, got: &[u8], want: &[u8]) -> Self {
        let size = dtype.block_bytes() as usize;
        let mut all =
            Difference { values: (want.len() / size) as u64 * dtype.block_values(), ..Self::default() };
        if got.len() != want.len() {
            let shorter = (got.len().min(want.len()) / size) as u64 * dtype.block_values();
            let (nmse, max_abs) = (f64::INFINITY, f64::INFINITY);
            return Difference { first: Some(shorter), different: 1, ulp: u64::MAX, nmse, max_abs, ..all };
        }
        let (mut error, mut power) = (0.0, 0.0);
        for (block, (a, b)) in got.chunks(size).zip(want.chunks(size)).enumerate() {
            for (at, (x, y)) in numbers(dtype, a).into_iter().zip(numbers(dtype, b)).enumerate() {
                if y.is_finite() {
                    power += y * y;
                    all.largest = all.largest.max(y.abs());
                }
                if a == b {
                    continue;
                }
                let index = block as u64 * dtype.block_values() + at as u64;
                if dtype.is_quantised() && x == y {
                    continue;
                }
                all.different += 1;
                all.first = all.first.or(Some(index));
                let off = (x - y).abs();
                let off = if off.is_nan() { f64::INFINITY } else { off };
                all.not_finite += u64::from(!x.is_finite() && y.is_finite());
                error += off * off;
                all.max_abs = all.max_abs.max(off);
                all.ulp = all.ulp.max(distance(dtype, a, b));
            }
        }
        all.nmse = if error == 0.0 { 0.0 } else { error / f64::max(power, 1e-30) };
        all
    }

    /// Whether not a bit differs.
    pub fn is_none(&self) -> bool {
        self.different == 0
    }
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return write!(f, "{} values, equal bit for bit", self.values);
        }
        let Difference { values, different, nmse, max_abs, ulp, .. } = self;
        write!(f, "{different} of {values} values differ, NMSE {nmse:.3e}, largest error {max_abs:.3e}")?;
        match ulp {
            &u64::MAX => {}
            ulp => write!(f, ", {ulp} ULP")?,
        }
        if self.not_finite > 0 {
            write!(f, ", {} not finite", self.not_finite)?;
        }
        self.first.map_or(Ok(()), |first| write!(f, ", first at {first}"))
    }
}

/// The values of one block.
fn numbers(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let integer = |bytes: &[u8]| {
        let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
        let mut wide = [if negative { 0xff } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        i64::from_le_bytes(wide)
    };
    match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => vec![integer(bytes) as f64],
        DType::F64 => bytes.try_into().map_or(Vec::new(), |bytes| vec![f64::from_le_bytes(bytes)]),
        _ => match quant::block_type(dtype) {
            Some(block) => {
                let mut values = vec![0.0; dtype.block_values() as usize];
                (block.decode)(bytes, &mut values);
                values.into_iter().map(f64::from).collect()
            }
            // A type that nothing decodes is compared byte by byte.
            None => bytes.iter().map(|byte| f64::from(*byte)).collect(),
        },
    }
}

/// How many numbers of the type lie between two of them; none for types whose bits are not ordered so.
fn distance(dtype: DType, a: &[u8], b: &[u8]) -> u64 {
    if dtype.is_quantised() {
        return u64::MAX;
    }
    let ordered = |bytes: &[u8]| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide) << (64 - 8 * bytes.len());
        // Sign and magnitude become one line; integers are on one already.
        let line = match dtype.is_float() && bits >> 63 == 1 {
            true => -i128::from(bits & (u64::MAX >> 1)),
            false => i128::from(bits as i64),
        };
        line >> (64 - 8 * bytes.len())
    };
    u64::try_from((ordered(a) - ordered(b)).unsigned_abs()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(got: &[f32], want: &[f32]) -> Difference {
        let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        Difference::of(DType::F32, &bytes(got), &bytes(want))
    }

    #[test]
    fn one_bit_is_one_ulp() {
        let next = f32::from_bits(1.0f32.to_bits() + 1);
        let told = of(&[1.0, next], &[1.0, 1.0]);
        assert_eq!((told.ulp, told.different, told.first), (1, 1, Some(1)));
        assert_eq!(told.max_abs, f64::from(f32::EPSILON));
        assert_eq!(of(&[f32::from_bits(1)], &[-f32::from_bits(1)]).ulp, 2, "across zero");
        assert_eq!(Difference::of(DType::I32, &[254, 255, 255, 255], &[1, 0, 0, 0]).ulp, 3);
    }

    #[test]
    fn equal_bytes_are_equal_and_nan_is_far_from_numbers() {
        assert!(of(&[f32::NAN, 1.0], &[f32::NAN, 1.0]).is_none());
        let told = of(&[f32::NAN], &[1.0]);
        assert_eq!((told.nmse, told.max_abs, told.not_finite), (f64::INFINITY, f64::INFINITY, 1));
        assert!(!of(&[1.0], &[1.0, 2.0]).is_none());
    }
}
