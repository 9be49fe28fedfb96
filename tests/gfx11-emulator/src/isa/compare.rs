//! Comparisons: a lane mask into a scalar register or, with `v_cmpx`, the execution mask.

use crate::float::Half;
use crate::group::Group;
use crate::isa::{Form, Spec};
use crate::lanes::{Kind, Kinds, Lane, Short};
use crate::level::compiled;
use crate::op::{EXEC, Op};
use crate::wave::{LANES, Wave};

#[inline(always)]
fn compare<A: Lane, B: Lane>(wave: &mut Wave, group: &mut Group<'_>, op: &Op, test: impl Fn(A, B) -> bool) {
    let doubt = A::doubt(wave, op, 0) | B::doubt(wave, op, 1);
    let (a, b) = (A::fetch(wave, op, 0), B::fetch(wave, op, 1));
    let mut bits = [0u32; LANES];
    for lane in 0..LANES {
        bits[lane] = u32::from(test(a[lane], b[lane])) << lane;
    }
    let mask = bits.iter().fold(0, |mask, bit| mask | bit);
    let writable = wave.writable(op);
    let doubt = (doubt as u32 | (doubt >> 32) as u32) & writable;
    wave.put_scalar(
        group,
        op,
        op.mask_to,
        mask & writable,
        if op.mask_to == EXEC && !group.options.undefined { 0 } else { doubt },
    );
}

const fn kinds<A: Lane, B: Lane>(_: &impl Fn(A, B) -> bool) -> Kinds {
    [A::KIND, B::KIND, Kind::Word, Kind::Word]
}

macro_rules! compare {
    ($f:expr) => {
        Spec::of(compiled!(compare, $f), Form::Compare, kinds(&$f))
    };
}

pub fn find(name: &str) -> Option<Spec> {
    let rest = name.strip_prefix("v_cmp_").or_else(|| name.strip_prefix("v_cmpx_"))?;
    let (test, kind) = rest.rsplit_once('_')?;
    match kind {
        "u32" => unsigned(test),
        "i32" => signed(test),
        "f32" => floating(test),
        "f16" => half(test),
        "u16" => short_unsigned(test),
        "i16" => short_signed(test),
        "u64" => long_unsigned(test),
        "i64" => long_signed(test),
        "f64" => double(test),
        _ => None,
    }
}

/// The six orders of integers, for one type each. A macro, because every closure is a type of its own.
macro_rules! integers {
    ($name:ident, $of:ty, $value:expr) => {
        fn $name(test: &str) -> Option<Spec> {
            Some(match test {
                "lt" => compare!(|a: $of, b: $of| $value(a) < $value(b)),
                "eq" => compare!(|a: $of, b: $of| $value(a) == $value(b)),
                "le" => compare!(|a: $of, b: $of| $value(a) <= $value(b)),
                "gt" => compare!(|a: $of, b: $of| $value(a) > $value(b)),
                "ne" => compare!(|a: $of, b: $of| $value(a) != $value(b)),
                "ge" => compare!(|a: $of, b: $of| $value(a) >= $value(b)),
                _ => return None,
            })
        }
    };
}

integers!(unsigned, u32, (|a: u32| a));
integers!(signed, i32, (|a: i32| a));
integers!(long_unsigned, u64, (|a: u64| a));
integers!(long_signed, i64, (|a: i64| a));
integers!(short_unsigned, Short, (|a: Short| a.0));
integers!(short_signed, Short, (|a: Short| a.0 as i16));

/// Orders of floats; those with an `n` are true for a NaN. `class` tests the kind of number.
macro_rules! floats {
    ($name:ident, $of:ty, $value:expr, $class:expr) => {
        #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "with a NaN, not less is not greater or equal")]
        fn $name(test: &str) -> Option<Spec> {
            Some(match test {
                "lt" => compare!(|a: $of, b: $of| $value(a) < $value(b)),
                "eq" => compare!(|a: $of, b: $of| $value(a) == $value(b)),
                "le" => compare!(|a: $of, b: $of| $value(a) <= $value(b)),
                "gt" => compare!(|a: $of, b: $of| $value(a) > $value(b)),
                "ge" => compare!(|a: $of, b: $of| $value(a) >= $value(b)),
                "lg" => compare!(|a: $of, b: $of| $value(a) < $value(b) || $value(a) > $value(b)),
                "neq" => compare!(|a: $of, b: $of| !($value(a) == $value(b))),
                "nlt" => compare!(|a: $of, b: $of| !($value(a) < $value(b))),
                "nle" => compare!(|a: $of, b: $of| !($value(a) <= $value(b))),
                "ngt" => compare!(|a: $of, b: $of| !($value(a) > $value(b))),
                "nge" => compare!(|a: $of, b: $of| !($value(a) >= $value(b))),
                "nlg" => compare!(|a: $of, b: $of| !($value(a) < $value(b) || $value(a) > $value(b))),
                "o" => compare!(|a: $of, b: $of| !$value(a).is_nan() && !$value(b).is_nan()),
                "u" => compare!(|a: $of, b: $of| $value(a).is_nan() || $value(b).is_nan()),
                "class" => compare!(|a: $of, mask: u32| mask >> $class(a) & 1 == 1),
                _ => return None,
            })
        }
    };
}

floats!(floating, f32, (|a: f32| a), |a: f32| class(a.to_bits().into(), 8, 23));
floats!(double, f64, (|a: f64| a), |a: f64| class(a.to_bits(), 11, 52));
floats!(half, Half, (|a: Half| a.value()), |a: Half| class(a.0.into(), 5, 10));

/// Signalling NaN, quiet NaN, -inf, -normal, -subnormal, -0, +0, +subnormal, +normal, +inf: the bits of a class mask.
#[inline(always)]
fn class(bits: u64, exponent_bits: u32, mantissa_bits: u32) -> u32 {
    let mantissa = bits & ((1 << mantissa_bits) - 1);
    let full = (1 << exponent_bits) - 1;
    let exponent = bits >> mantissa_bits & full;
    let negative = bits >> (mantissa_bits + exponent_bits) & 1 == 1;
    let size = if exponent == full {
        if mantissa != 0 {
            return (mantissa >> (mantissa_bits - 1)) as u32;
        }
        3
    } else if exponent != 0 {
        2
    } else {
        u32::from(mantissa != 0)
    };
    if negative { 5 - size } else { 6 + size }
}

#[cfg(test)]
mod tests {
    use super::class;

    #[test]
    fn classes_are_numbered_as_in_the_mask() {
        let of = |x: f32| class(x.to_bits().into(), 8, 23);
        assert_eq!(
            [f32::NEG_INFINITY, -1.0, -1e-40, -0.0, 0.0, 1e-40, 1.0, f32::INFINITY].map(of),
            [2, 3, 4, 5, 6, 7, 8, 9]
        );
        assert_eq!((of(f32::from_bits(0x7f80_0001)), of(f32::NAN)), (0, 1));
    }
}
