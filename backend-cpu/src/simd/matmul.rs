//! Products of weights and activations, by type and mode.

use std::marker::PhantomData;

use weft_core::graph::DType;

use super::activations::{ACTIVATION_VALUES, ActivationBlock};
use super::job::Job;
use super::level::Simd;
use super::operands::{Columns, MatmulError, Output, Weights};
use super::run_exact::Exact;
use super::run_fast::Fast;
use super::{formats_32, formats_256, formats_plain};

/// Ranges of rows that begin at multiples of this waste nothing.
pub const ROW_TILE: usize = 32;

/// Whether [`matmul_fast`] takes weights of this type. Plain floats always go through [`matmul_exact`].
pub fn has_fast(dtype: DType) -> bool {
    use DType::{Q4_0, Q4_1, Q4_K, Q5_0, Q5_1, Q5_K, Q6_K, Q8_0};
    matches!(dtype, Q4_0 | Q4_1 | Q5_0 | Q5_1 | Q8_0 | Q4_K | Q5_K | Q6_K)
}

/// Whether [`matmul_exact`] takes weights of this type.
pub fn has_exact(dtype: DType) -> bool {
    has_fast(dtype) || matches!(dtype, DType::F32 | DType::F16 | DType::BF16)
}

/// `out[r, c] = Σ weights[i, r] · activations[i, c]` for the rows of `out`, on activations rounded to 8 bits.
///
/// `activations` holds `k / 32` blocks of each column, column after column. At one level a result depends on its row
/// and column alone, not on the number of columns or the range of rows. Nothing is allocated.
///
/// # Errors
/// [`MatmulError::Type`], [`MatmulError::Length`].
pub fn matmul_fast(
    simd: Simd,
    weights: &Weights<'_>,
    activations: &[ActivationBlock],
    out: Output<'_>,
) -> Result<(), MatmulError> {
    let column = weights.k() / ACTIVATION_VALUES;
    check("activation blocks", activations.len(), out.columns().saturating_mul(column))?;
    check("rows of weights", weights.rows(), out.rows().end)?;
    let job = Job { weights: *weights, activations: activations.as_ptr(), column, out };
    match weights.dtype() {
        DType::Q4_0 => simd.run(Fast(job, PhantomData::<formats_32::Q4_0>)),
        DType::Q4_1 => simd.run(Fast(job, PhantomData::<formats_32::Q4_1>)),
        DType::Q5_0 => simd.run(Fast(job, PhantomData::<formats_32::Q5_0>)),
        DType::Q5_1 => simd.run(Fast(job, PhantomData::<formats_32::Q5_1>)),
        DType::Q8_0 => simd.run(Fast(job, PhantomData::<formats_32::Q8_0>)),
        DType::Q4_K => simd.run(Fast(job, PhantomData::<formats_256::Q4K>)),
        DType::Q5_K => simd.run(Fast(job, PhantomData::<formats_256::Q5K>)),
        DType::Q6_K => simd.run(Fast(job, PhantomData::<formats_256::Q6K>)),
        other => return Err(MatmulError::Type(other)),
    }
    Ok(())
}

/// `out[r, c] = Σ weights[i, r] · columns[i, c]` for the rows of `out`, on f32 activations.
///
/// Weights are decoded to f32, products summed in f32: 32 at a time, then block after block. At one level a result
/// depends on its row and column alone. Nothing is allocated.
///
/// # Errors
/// [`MatmulError::Type`], [`MatmulError::Length`].
pub fn matmul_exact(
    simd: Simd,
    weights: &Weights<'_>,
    columns: Columns<'_>,
    out: Output<'_>,
) -> Result<(), MatmulError> {
    let last = out.columns().saturating_sub(1).saturating_mul(columns.stride);
    let want = if out.columns() == 0 { 0 } else { last.saturating_add(weights.k()) };
    check("activations", columns.values.len(), want)?;
    check("rows of weights", weights.rows(), out.rows().end)?;
    let job = Job { weights: *weights, activations: columns.values.as_ptr(), column: columns.stride, out };
    match weights.dtype() {
        DType::F32 => simd.run(Exact(job, PhantomData::<formats_plain::F32>)),
        DType::F16 => simd.run(Exact(job, PhantomData::<formats_plain::F16>)),
        DType::BF16 => simd.run(Exact(job, PhantomData::<formats_plain::Bf16>)),
        DType::Q4_0 => simd.run(Exact(job, PhantomData::<formats_32::Q4_0>)),
        DType::Q4_1 => simd.run(Exact(job, PhantomData::<formats_32::Q4_1>)),
        DType::Q5_0 => simd.run(Exact(job, PhantomData::<formats_32::Q5_0>)),
        DType::Q5_1 => simd.run(Exact(job, PhantomData::<formats_32::Q5_1>)),
        DType::Q8_0 => simd.run(Exact(job, PhantomData::<formats_32::Q8_0>)),
        DType::Q4_K => simd.run(Exact(job, PhantomData::<formats_256::Q4K>)),
        DType::Q5_K => simd.run(Exact(job, PhantomData::<formats_256::Q5K>)),
        DType::Q6_K => simd.run(Exact(job, PhantomData::<formats_256::Q6K>)),
        other => return Err(MatmulError::Type(other)),
    }
    Ok(())
}

fn check(what: &'static str, got: usize, want: usize) -> Result<(), MatmulError> {
    if got < want { Err(MatmulError::Length { what, got, want }) } else { Ok(()) }
}
