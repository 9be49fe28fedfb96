//! Registers of eight lanes in plain Rust.

use std::array::from_fn;

use half::f16;

use super::lanes::Lanes;
use super::level::Task;

#[derive(Clone, Copy)]
pub(crate) struct Portable;

type I = [i32; 8];
type F = [f32; 8];

impl Lanes for Portable {
    const WIDTH: usize = 8;
    const BIAS: i32 = 0;
    const TILE_COLUMNS: [usize; 3] = [1, 1, 1];

    type I = I;
    type F = F;

    #[inline(never)]
    fn enter<T: Task>(task: T) -> T::Output {
        task.run::<Self>()
    }

    #[inline(always)]
    fn prefetch(_at: *const u8) {}

    #[inline(always)]
    fn splat_i(value: i32) -> I {
        [value; 8]
    }
    #[inline(always)]
    fn and(a: I, b: I) -> I {
        from_fn(|i| a[i] & b[i])
    }
    #[inline(always)]
    fn or(a: I, b: I) -> I {
        from_fn(|i| a[i] | b[i])
    }
    #[inline(always)]
    fn xor(a: I, b: I) -> I {
        from_fn(|i| a[i] ^ b[i])
    }
    #[inline(always)]
    fn add_i(a: I, b: I) -> I {
        from_fn(|i| a[i].wrapping_add(b[i]))
    }
    #[inline(always)]
    fn add_bytes(a: I, b: I) -> I {
        from_fn(|i| {
            let (a, b) = (a[i].to_le_bytes(), b[i].to_le_bytes());
            i32::from_le_bytes(from_fn(|j| a[j].wrapping_add(b[j])))
        })
    }
    #[inline(always)]
    fn shift_right(a: I, bits: u32) -> I {
        from_fn(|i| ((a[i] as u32) >> bits) as i32)
    }
    #[inline(always)]
    fn shift_right_signed(a: I, bits: u32) -> I {
        from_fn(|i| a[i] >> bits)
    }
    #[inline(always)]
    fn shift_left(a: I, bits: u32) -> I {
        from_fn(|i| a[i] << bits)
    }
    #[inline(always)]
    fn mul_i(a: I, b: I) -> I {
        from_fn(|i| a[i].wrapping_mul(b[i]))
    }
    #[inline(always)]
    fn max_i(a: I, b: I) -> I {
        from_fn(|i| a[i].max(b[i]))
    }
    #[inline(always)]
    fn largest_i(a: I) -> i32 {
        a.into_iter().fold(i32::MIN, i32::max)
    }

    #[inline(always)]
    fn lookup(levels: &[i8; 16], numbers: I) -> I {
        from_fn(|i| {
            let numbers = numbers[i].to_le_bytes();
            i32::from_le_bytes(from_fn(|j| levels[usize::from(numbers[j] & 15)].cast_unsigned()))
        })
    }

    #[inline(always)]
    fn start(_minus_128_sums: i32) -> I {
        [0; 8]
    }
    #[inline(always)]
    fn dot_signed(sum: I, weights: I, activations: I) -> I {
        from_fn(|i| {
            let (w, a) = (weights[i].to_le_bytes(), activations[i].to_le_bytes());
            (0..4).fold(sum[i], |sum, j| sum + i32::from(w[j] as i8) * i32::from(a[j] as i8))
        })
    }
    #[inline(always)]
    fn dot_unsigned(sum: I, weights: I, activations: I) -> I {
        from_fn(|i| {
            let (w, a) = (weights[i].to_le_bytes(), activations[i].to_le_bytes());
            (0..4).fold(sum[i], |sum, j| sum + i32::from(w[j]) * i32::from(a[j] as i8))
        })
    }

    #[inline(always)]
    fn to_float(a: I) -> F {
        from_fn(|i| a[i] as f32)
    }
    #[inline(always)]
    fn round(a: F) -> I {
        from_fn(|i| a[i].round_ties_even() as i32)
    }
    #[inline(always)]
    fn as_float(a: I) -> F {
        from_fn(|i| f32::from_bits(a[i] as u32))
    }
    #[inline(always)]
    fn as_bits(a: F) -> I {
        from_fn(|i| a[i].to_bits() as i32)
    }
    #[inline(always)]
    fn low_half(a: I) -> F {
        from_fn(|i| f16::from_bits(a[i] as u16).to_f32())
    }

    #[inline(always)]
    fn splat(value: f32) -> F {
        [value; 8]
    }
    #[inline(always)]
    fn add(a: F, b: F) -> F {
        from_fn(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub(a: F, b: F) -> F {
        from_fn(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn mul(a: F, b: F) -> F {
        from_fn(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn div(a: F, b: F) -> F {
        from_fn(|i| a[i] / b[i])
    }
    #[inline(always)]
    fn fma(a: F, b: F, c: F) -> F {
        from_fn(|i| a[i] * b[i] + c[i])
    }
    #[inline(always)]
    fn max(a: F, b: F) -> F {
        from_fn(|i| if a[i] > b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn min(a: F, b: F) -> F {
        from_fn(|i| if a[i] < b[i] { a[i] } else { b[i] })
    }
    #[inline(always)]
    fn select_greater(a: F, b: F, yes: F, no: F) -> F {
        from_fn(|i| if a[i] > b[i] { yes[i] } else { no[i] })
    }
    #[inline(always)]
    fn sum(a: F) -> f32 {
        ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]))
    }
    #[inline(always)]
    fn sum_four(a: [F; 4]) -> [f32; 4] {
        a.map(Self::sum)
    }
    #[inline(always)]
    fn largest(a: F) -> f32 {
        a.into_iter().fold(f32::NEG_INFINITY, |b, a| if a > b { a } else { b })
    }

    #[inline(always)]
    unsafe fn load(from: *const f32) -> F {
        // SAFETY: the caller has eight floats.
        unsafe { from.cast::<F>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(to: *mut f32, value: F) {
        // SAFETY: the caller has room for eight floats.
        unsafe { to.cast::<F>().write_unaligned(value) }
    }
    #[inline(always)]
    unsafe fn load_some(from: *const f32, count: usize) -> F {
        // SAFETY: the caller has `count` floats.
        from_fn(|i| if i < count { unsafe { from.add(i).read() } } else { 0.0 })
    }
    #[inline(always)]
    unsafe fn store_some(to: *mut f32, value: F, count: usize) {
        for (i, value) in value.into_iter().enumerate().take(count) {
            // SAFETY: the caller has room for `count` floats.
            unsafe { to.add(i).write(value) }
        }
    }
    #[inline(always)]
    unsafe fn load_half(from: *const u16) -> F {
        // SAFETY: the caller has eight halves.
        from_fn(|i| f16::from_bits(unsafe { from.add(i).read_unaligned() }).to_f32())
    }
    #[inline(always)]
    unsafe fn store_half(to: *mut u16, value: F) {
        for (i, value) in value.into_iter().enumerate() {
            // SAFETY: the caller has room for eight halves.
            unsafe { to.add(i).write_unaligned(f16::from_f32(value).to_bits()) }
        }
    }
    #[inline(always)]
    unsafe fn load_bytes(from: *const i8) -> I {
        // SAFETY: the caller has eight bytes.
        from_fn(|i| i32::from(unsafe { from.add(i).read() }))
    }
    #[inline(always)]
    unsafe fn store_bytes(to: *mut i8, value: I) {
        for (i, value) in value.into_iter().enumerate() {
            // SAFETY: the caller has room for eight bytes.
            unsafe { to.add(i).write(value as i8) }
        }
    }
    #[inline(always)]
    unsafe fn sum_sixteen(from: *const i8) -> i32 {
        // SAFETY: the caller has sixteen bytes.
        unsafe { from.cast::<[i8; 16]>().read() }.into_iter().map(i32::from).sum()
    }
    #[inline(always)]
    unsafe fn splat_four(from: *const i8) -> I {
        // SAFETY: the caller has four bytes.
        [i32::from_le_bytes(unsafe { from.cast::<[u8; 4]>().read() }); 8]
    }

    #[inline(always)]
    unsafe fn pick(table: *const u32, places: I) -> I {
        // SAFETY: the caller's places lie in the table.
        from_fn(|i| unsafe { table.add(places[i] as usize).read() }.cast_signed())
    }
    #[inline(always)]
    unsafe fn gather(rows: *const u8, stride: usize) -> I {
        // SAFETY: the caller has four bytes in each row.
        from_fn(|row| i32::from_le_bytes(unsafe { rows.add(row * stride).cast::<[u8; 4]>().read() }))
    }
    #[inline(always)]
    unsafe fn gather_sixteen(rows: *const u8, stride: usize) -> [I; 4] {
        // SAFETY: the caller has sixteen bytes in each row.
        from_fn(|i| unsafe { Self::gather(rows.add(4 * i), stride) })
    }
}
