//! Activations rounded to 8 bits for the fast mode.

use super::lanes::Lanes;
use super::level::{Simd, Task};

/// Values in one [`ActivationBlock`].
pub const ACTIVATION_VALUES: usize = 32;

/// 32 values of a column as integers with one scale: value `i` is `scale · values[i]`. One cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct ActivationBlock {
    /// The integers, -127..=127.
    pub values: [i8; ACTIVATION_VALUES],
    /// The largest magnitude divided by 127; not a number or infinite if a value was.
    pub scale: f32,
    /// `scale` times the sum of `values`.
    pub scaled_sum: f32,
    /// -128 times the sum of all `values`, of the first 16 and of the last 16.
    pub minus_128_sums: [i32; 3],
    spare: [i32; 3],
}

/// Rounds values to 8 bits, each 32 with their own scale. Of `values` and `blocks` as many are used as both hold, so a
/// column of `k` values needs `k / 32` blocks; several columns may be given at once.
///
/// A block whose largest magnitude is below 1e-30 becomes zero.
pub fn quantise(simd: Simd, values: &[f32], blocks: &mut [ActivationBlock]) {
    simd.run(Quantise { values, blocks });
}

struct Quantise<'a> {
    values: &'a [f32],
    blocks: &'a mut [ActivationBlock],
}

impl Task for Quantise<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (values, _) = self.values.as_chunks::<ACTIVATION_VALUES>();
        for (values, block) in values.iter().zip(self.blocks) {
            quantise_block::<L>(values, block);
        }
    }
}

#[inline(always)]
fn quantise_block<L: Lanes>(values: &[f32; ACTIVATION_VALUES], block: &mut ActivationBlock) {
    let parts = (0..ACTIVATION_VALUES).step_by(L::WIDTH);
    let magnitude = L::splat_i(0x7FFF_FFFF);
    let mut largest = L::splat_i(0);
    for at in parts.clone() {
        // SAFETY: `WIDTH` divides 32.
        let part = unsafe { L::load(values.as_ptr().add(at)) };
        // As integers, so that what is not a number is the largest.
        largest = L::max_i(largest, L::and(L::as_bits(part), magnitude));
    }
    let largest = f32::from_bits(L::largest_i(largest) as u32);
    let zero = largest < 1e-30;
    let scale = if zero { 0.0 } else { largest / 127.0 };
    let inverse = L::splat(if zero { 0.0 } else { 127.0 / largest });
    for at in parts {
        // SAFETY: `WIDTH` divides 32, the length of both arrays.
        unsafe {
            let part = L::load(values.as_ptr().add(at));
            L::store_bytes(block.values.as_mut_ptr().add(at), L::round(L::mul(part, inverse)));
        }
    }
    // SAFETY: the array holds 32 bytes.
    let halves =
        unsafe { [L::sum_sixteen(block.values.as_ptr()), L::sum_sixteen(block.values.as_ptr().add(16))] };
    let sum = halves[0] + halves[1];
    block.scale = scale;
    block.scaled_sum = scale * sum as f32;
    block.minus_128_sums = [-128 * sum, -128 * halves[0], -128 * halves[1]];
}
