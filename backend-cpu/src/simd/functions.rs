//! Exponentials and what is made of them, in bulk.
//!
//! Relative errors are below 3e-7 wherever the result is a normal number.

use super::lanes::Lanes;
use super::level::{Simd, Task};
use super::vector::Element;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Function {
    /// `e^x`: 0 at -∞, ∞ above 88.72.
    Exp,
    /// `1 / (1 + e^-x)`
    Sigmoid,
    /// `x / (1 + e^-x)`; 0 for -∞.
    Silu,
    /// `ln(1 + e^x)`, without overflow.
    Softplus,
}

/// `values[i] = f(values[i])`
pub fn apply(simd: Simd, function: Function, values: &mut [f32]) {
    let (to, length) = (values.as_mut_ptr(), values.len());
    run(simd, function, Span { from: to, to, length, with: None });
}

/// `to[i] = f(from[i])`, for as many elements as both hold.
pub fn apply_to(simd: Simd, function: Function, from: &[f32], to: &mut [f32]) {
    let length = from.len().min(to.len());
    run(simd, function, Span { from: from.as_ptr(), to: to.as_mut_ptr(), length, with: None });
}

/// `to[i] *= f(from[i])`, for as many elements as both hold: a gate.
pub fn multiply_by(simd: Simd, function: Function, from: &[f32], to: &mut [f32]) {
    let length = from.len().min(to.len());
    let to = to.as_mut_ptr();
    run(simd, function, Span { from: from.as_ptr(), to, length, with: Some(to) });
}

/// `values[i] = e^(values[i] - shift)`; returns their sum. With the largest value as the shift this is a softmax before
/// its division.
pub fn exp_and_sum(simd: Simd, shift: f32, values: &mut [f32]) -> f32 {
    simd.run(ExpAndSum { shift, values })
}

/// `length` elements to read and to write, perhaps the same ones, and perhaps factors of the results.
struct Span {
    from: *const f32,
    to: *mut f32,
    length: usize,
    with: Option<*mut f32>,
}

fn run(simd: Simd, function: Function, span: Span) {
    match function {
        Function::Exp => simd.run(Map(span, Exp)),
        Function::Sigmoid => simd.run(Map(span, Sigmoid)),
        Function::Silu => simd.run(Map(span, Silu)),
        Function::Softplus => simd.run(Map(span, Softplus)),
    }
}

trait Unary {
    fn of<L: Lanes>(x: L::F) -> L::F;
}

struct Exp;
struct Sigmoid;
struct Silu;
struct Softplus;

impl Unary for Exp {
    #[inline(always)]
    fn of<L: Lanes>(x: L::F) -> L::F {
        exp::<L>(x)
    }
}

impl Unary for Sigmoid {
    #[inline(always)]
    fn of<L: Lanes>(x: L::F) -> L::F {
        L::div(L::splat(1.0), one_plus_exp_minus::<L>(x))
    }
}

impl Unary for Silu {
    #[inline(always)]
    fn of<L: Lanes>(x: L::F) -> L::F {
        // Below -100 the result is 0 in any case, and -∞ / ∞ is avoided.
        let x = L::max(L::splat(-1000.0), x);
        L::div(x, one_plus_exp_minus::<L>(x))
    }
}

impl Unary for Softplus {
    #[inline(always)]
    fn of<L: Lanes>(x: L::F) -> L::F {
        let zero = L::splat(0.0);
        // ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)
        let minus_magnitude = L::min(x, L::sub(zero, x));
        L::add(L::max(zero, x), log_one_plus::<L>(exp::<L>(minus_magnitude)))
    }
}

#[inline(always)]
fn one_plus_exp_minus<L: Lanes>(x: L::F) -> L::F {
    L::add(L::splat(1.0), exp::<L>(L::sub(L::splat(0.0), x)))
}

/// `c[0]·x^n + … + c[n]`
#[inline(always)]
fn polynomial<L: Lanes, const N: usize>(x: L::F, coefficients: [f32; N]) -> L::F {
    let mut result = L::splat(coefficients[0]);
    for &coefficient in &coefficients[1..] {
        result = L::fma(result, x, L::splat(coefficient));
    }
    result
}

/// ln 2 in two parts; a small integer times the first is exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// By e^x = 2^n·e^r with |r| ≤ ln 2 / 2; coefficients of Cephes.
#[inline(always)]
fn exp<L: Lanes>(x: L::F) -> L::F {
    // Beyond these the result is 0 or ∞ anyway. What is not a number passes.
    let x = L::min(L::splat(88.8), L::max(L::splat(-104.0), x));
    let n = L::round(L::mul(x, L::splat(std::f32::consts::LOG2_E)));
    let whole = L::to_float(n);
    let r = L::fma(whole, L::splat(-LN_2[1]), L::fma(whole, L::splat(-LN_2[0]), x));
    let tail = polynomial::<L, 6>(
        r,
        [1.987_569_1e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5],
    );
    let result = L::add(L::fma(tail, L::mul(r, r), r), L::splat(1.0));
    // 2^n in two factors, since n may be below the least or above the largest exponent.
    let half = L::shift_right_signed(n, 1);
    let rest = L::add_i(n, L::mul_i(half, L::splat_i(-1)));
    L::mul(L::mul(result, power_of_two::<L>(half)), power_of_two::<L>(rest))
}

#[inline(always)]
fn power_of_two<L: Lanes>(n: L::I) -> L::F {
    L::as_float(L::shift_left(L::add_i(n, L::splat_i(127)), 23))
}

/// ln(1 + z) for z in 0..=1; coefficients of Cephes.
#[inline(always)]
fn log_one_plus<L: Lanes>(z: L::F) -> L::F {
    // Above √2 - 1: ln(1 + z) = ln 2 + ln(1 + (z - 1) / 2).
    let (limit, zero, one) = (L::splat(0.414_213_57), L::splat(0.0), L::splat(1.0));
    let f = L::select_greater(z, limit, L::mul(L::sub(z, one), L::splat(0.5)), z);
    let twos = L::select_greater(z, limit, one, zero);
    let square = L::mul(f, f);
    let tail = polynomial::<L, 9>(
        f,
        [
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_5e-1,
            -2.499_999_4e-1,
            3.333_333e-1,
        ],
    );
    let small = L::fma(twos, L::splat(LN_2[1]), L::mul(L::mul(square, f), tail));
    let small = L::fma(square, L::splat(-0.5), small);
    L::fma(twos, L::splat(LN_2[0]), L::add(f, small))
}

struct Map<U>(Span, U);

impl<U: Unary> Task for Map<U> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Span { from, to, length, with } = self.0;
        for at in (0..length).step_by(L::WIDTH) {
            let count = (length - at).min(L::WIDTH);
            // SAFETY: the functions above made the span from slices of at least this length. Where both are the same
            // one, each element is read before it is written.
            unsafe {
                let mut result = U::of::<L>(L::load_some(from.add(at), count));
                if let Some(with) = with {
                    result = L::mul(result, L::load_some(with.add(at), count));
                }
                L::store_some(to.add(at), result, count);
            }
        }
    }
}

struct ExpAndSum<'a> {
    shift: f32,
    values: &'a mut [f32],
}

impl Task for ExpAndSum<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let (values, length) = (self.values.as_mut_ptr(), self.values.len());
        let whole = length / L::WIDTH * L::WIDTH;
        let shift = L::splat(self.shift);
        let mut sum = L::splat(0.0);
        for at in (0..whole).step_by(L::WIDTH) {
            // SAFETY: `at + WIDTH` is at most the length.
            unsafe {
                let result = exp::<L>(L::sub(f32::load::<L>(values.add(at)), shift));
                L::store(values.add(at), result);
                sum = L::add(sum, result);
            }
        }
        let mut total = L::sum(sum);
        if whole < length {
            let last = &mut self.values[whole..];
            // SAFETY: `last.len()` elements are read and written, less than a register.
            unsafe {
                let result = exp::<L>(L::sub(L::load_some(last.as_ptr(), last.len()), shift));
                L::store_some(last.as_mut_ptr(), result, last.len());
            }
            total += last.iter().sum::<f32>();
        }
        total
    }
}
