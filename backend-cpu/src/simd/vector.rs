//! Sums and updates over slices.
//!
//! Where two slices are given, as many elements are used as both hold. Sums of n products run in parallel, so their error
//! grows slowly with n; at one level they always come out the same.

use half::f16;

use super::lanes::Lanes;
use super::level::{Simd, Task};

/// `Σ a·b`
pub fn dot(simd: Simd, a: &[f32], b: &[f32]) -> f32 {
    simd.run(Dot { a, b })
}

/// `Σ a·b` with halves on one side.
pub fn dot_half(simd: Simd, a: &[f32], b: &[f16]) -> f32 {
    simd.run(Dot { a, b })
}

/// `Σ a²`
pub fn sum_of_squares(simd: Simd, a: &[f32]) -> f32 {
    simd.run(Dot { a, b: a })
}

/// `Σ a`
pub fn sum(simd: Simd, a: &[f32]) -> f32 {
    simd.run(Sum(a))
}

/// The largest element; `-∞` for none. Elements that are not numbers may be passed over.
pub fn largest(simd: Simd, a: &[f32]) -> f32 {
    simd.run(Largest(a))
}

/// `to += factor · from`
pub fn add_scaled(simd: Simd, factor: f32, from: &[f32], to: &mut [f32]) {
    simd.run(Update { from, to, with: AddScaled(factor) });
}

/// `to += factor · from` with halves added.
pub fn add_scaled_half(simd: Simd, factor: f32, from: &[f16], to: &mut [f32]) {
    simd.run(Update { from, to, with: AddScaled(factor) });
}

/// `to += from`
pub fn add(simd: Simd, from: &[f32], to: &mut [f32]) {
    simd.run(Update { from, to, with: Add });
}

/// `to *= from`
pub fn multiply(simd: Simd, from: &[f32], to: &mut [f32]) {
    simd.run(Update { from, to, with: Multiply });
}

/// `to = factor · from`
pub fn set_scaled(simd: Simd, factor: f32, from: &[f32], to: &mut [f32]) {
    simd.run(Update { from, to, with: SetScaled(factor) });
}

/// `a *= factor`
pub fn scale(simd: Simd, factor: f32, a: &mut [f32]) {
    simd.run(Scale { factor, a });
}

/// Halves to floats, exactly.
pub fn from_half(simd: Simd, from: &[f16], to: &mut [f32]) {
    simd.run(Update { from, to, with: SetScaled(1.0) });
}

/// Floats to the nearest halves, ties to even.
pub fn to_half(simd: Simd, from: &[f32], to: &mut [f16]) {
    simd.run(ToHalf { from, to });
}

/// Elements that load as floats.
pub(super) trait Element: Copy {
    /// The first `count` lanes; zero in the others.
    /// # Safety
    /// `count <= WIDTH` elements must be readable.
    unsafe fn load_some<L: Lanes>(from: *const Self, count: usize) -> L::F;
    /// # Safety
    /// `WIDTH` elements must be readable.
    unsafe fn load<L: Lanes>(from: *const Self) -> L::F;
}

impl Element for f32 {
    #[inline(always)]
    unsafe fn load_some<L: Lanes>(from: *const f32, count: usize) -> L::F {
        // SAFETY: as the caller says.
        unsafe { L::load_some(from, count) }
    }
    #[inline(always)]
    unsafe fn load<L: Lanes>(from: *const f32) -> L::F {
        // SAFETY: as the caller says.
        unsafe { L::load(from) }
    }
}

impl Element for f16 {
    #[inline(always)]
    unsafe fn load_some<L: Lanes>(from: *const f16, count: usize) -> L::F {
        let mut some = [f16::ZERO; 16];
        // SAFETY: `count` elements are readable and at most 16; no level has more lanes. An f16 is laid out as a u16.
        unsafe {
            some.as_mut_ptr().copy_from_nonoverlapping(from, count);
            L::load_half(some.as_ptr().cast())
        }
    }
    #[inline(always)]
    unsafe fn load<L: Lanes>(from: *const f16) -> L::F {
        // SAFETY: as the caller says; an f16 is laid out as a u16.
        unsafe { L::load_half(from.cast()) }
    }
}

/// Registers of sums that run side by side.
const PARALLEL: usize = 4;

/// Calls `add(which, at, count)` for each register's worth of `length` elements; `which` is the sum it goes to.
#[inline(always)]
fn in_parallel<L: Lanes>(length: usize, mut add: impl FnMut(usize, usize, usize)) {
    let mut at = 0;
    while at + PARALLEL * L::WIDTH <= length {
        for which in 0..PARALLEL {
            add(which, at + which * L::WIDTH, L::WIDTH);
        }
        at += PARALLEL * L::WIDTH;
    }
    for which in 0..PARALLEL {
        if at < length {
            add(which, at, (length - at).min(L::WIDTH));
            at += L::WIDTH;
        }
    }
}

#[inline(always)]
unsafe fn load<L: Lanes, E: Element>(from: *const E, count: usize) -> L::F {
    // SAFETY: the caller has `count` elements.
    unsafe { if count == L::WIDTH { E::load::<L>(from) } else { E::load_some::<L>(from, count) } }
}

#[inline(always)]
fn total<L: Lanes>([a, b, c, d]: [L::F; PARALLEL]) -> f32 {
    L::sum(L::add(L::add(a, b), L::add(c, d)))
}

struct Dot<'a, E> {
    a: &'a [f32],
    b: &'a [E],
}

impl<E: Element> Task for Dot<'_, E> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let (a, b) = (self.a.as_ptr(), self.b.as_ptr());
        let mut sums = [L::splat(0.0); PARALLEL];
        in_parallel::<L>(self.a.len().min(self.b.len()), |which, at, count| {
            // SAFETY: `at + count` is at most the length of both.
            let (a, b) = unsafe { (load::<L, _>(a.add(at), count), load::<L, _>(b.add(at), count)) };
            sums[which] = L::fma(a, b, sums[which]);
        });
        total::<L>(sums)
    }
}

struct Sum<'a>(&'a [f32]);

impl Task for Sum<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let a = self.0.as_ptr();
        let mut sums = [L::splat(0.0); PARALLEL];
        in_parallel::<L>(self.0.len(), |which, at, count| {
            // SAFETY: `at + count` is at most the length.
            sums[which] = L::add(sums[which], unsafe { load::<L, _>(a.add(at), count) });
        });
        total::<L>(sums)
    }
}

struct Largest<'a>(&'a [f32]);

impl Task for Largest<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<L: Lanes>(self) -> f32 {
        let whole = self.0.len() / L::WIDTH * L::WIDTH;
        let mut largest = L::splat(f32::NEG_INFINITY);
        for at in (0..whole).step_by(L::WIDTH) {
            // SAFETY: `at + WIDTH` is at most the length.
            largest = L::max(unsafe { L::load(self.0.as_ptr().add(at)) }, largest);
        }
        let last = self.0[whole..].iter().fold(f32::NEG_INFINITY, |a, &b| a.max(b));
        L::largest(largest).max(last)
    }
}

/// What becomes of an element, given another.
trait Combine: Copy {
    fn combine<L: Lanes>(self, from: L::F, to: L::F) -> L::F;
}

#[derive(Clone, Copy)]
struct Add;
#[derive(Clone, Copy)]
struct Multiply;
#[derive(Clone, Copy)]
struct AddScaled(f32);
#[derive(Clone, Copy)]
struct SetScaled(f32);

impl Combine for Add {
    #[inline(always)]
    fn combine<L: Lanes>(self, from: L::F, to: L::F) -> L::F {
        L::add(to, from)
    }
}

impl Combine for Multiply {
    #[inline(always)]
    fn combine<L: Lanes>(self, from: L::F, to: L::F) -> L::F {
        L::mul(to, from)
    }
}

impl Combine for AddScaled {
    #[inline(always)]
    fn combine<L: Lanes>(self, from: L::F, to: L::F) -> L::F {
        L::fma(from, L::splat(self.0), to)
    }
}

impl Combine for SetScaled {
    #[inline(always)]
    fn combine<L: Lanes>(self, from: L::F, _to: L::F) -> L::F {
        L::mul(from, L::splat(self.0))
    }
}

struct Update<'a, E, C> {
    from: &'a [E],
    to: &'a mut [f32],
    with: C,
}

impl<E: Element, C: Combine> Task for Update<'_, E, C> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let length = self.from.len().min(self.to.len());
        let (from, to) = (self.from.as_ptr(), self.to.as_mut_ptr());
        let whole = length / L::WIDTH * L::WIDTH;
        for at in (0..whole).step_by(L::WIDTH) {
            // SAFETY: `at + WIDTH` is at most the length of both.
            unsafe {
                let result = self.with.combine::<L>(E::load::<L>(from.add(at)), L::load(to.add(at)));
                L::store(to.add(at), result);
            }
        }
        if whole < length {
            let count = length - whole;
            // SAFETY: `count` elements are left in both.
            unsafe {
                let old = L::load_some(to.add(whole), count);
                let result = self.with.combine::<L>(E::load_some::<L>(from.add(whole), count), old);
                L::store_some(to.add(whole), result, count);
            }
        }
    }
}

struct Scale<'a> {
    factor: f32,
    a: &'a mut [f32],
}

impl Task for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        // Compiled with the instructions of the level.
        for a in self.a {
            *a *= self.factor;
        }
    }
}

struct ToHalf<'a> {
    from: &'a [f32],
    to: &'a mut [f16],
}

impl Task for ToHalf<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let length = self.from.len().min(self.to.len());
        let whole = length / L::WIDTH * L::WIDTH;
        for at in (0..whole).step_by(L::WIDTH) {
            // SAFETY: `at + WIDTH` is at most the length of both; an f16 is laid out as a u16.
            unsafe {
                L::store_half(self.to.as_mut_ptr().add(at).cast(), L::load(self.from.as_ptr().add(at)))
            };
        }
        for (from, to) in self.from[whole..length].iter().zip(&mut self.to[whole..length]) {
            *to = f16::from_f32(*from);
        }
    }
}
