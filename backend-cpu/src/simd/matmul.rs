//! Products of weights and activations, by type and mode.

use std::marker::PhantomData;

use weft_core::graph::DType;

use super::activations::{ACTIVATION_VALUES, ActivationBlock};
use super::job::Job;
use super::level::Simd;
use super::operands::{Columns, MatmulError, Output, Weights};
use super::panel::Format;
use super::run_exact::Exact;
use super::run_fast::Fast;
use super::{
    formats_32, formats_256, formats_codewords, formats_few_bits, formats_few_k, formats_iq1, formats_levels,
    formats_plain,
};

/// Ranges of rows that begin at multiples of this waste nothing.
pub const ROW_TILE: usize = 32;

/// Whether [`matmul_fast`] takes weights of this type. Plain floats always go through [`matmul_exact`].
pub fn has_fast(dtype: DType) -> bool {
    dtype.is_quantised()
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
    with_format(weights.dtype(), RunFast(simd, job))
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
        other => return with_format(other, RunExact(simd, job)),
    }
    Ok(())
}

/// What is done with weights of a block type.
trait OfFormat {
    fn run<T: Format>(self);
}

struct RunFast<'a>(Simd, Job<'a, ActivationBlock>);

impl OfFormat for RunFast<'_> {
    fn run<T: Format>(self) {
        self.0.run(Fast(self.1, PhantomData::<T>));
    }
}

struct RunExact<'a>(Simd, Job<'a, f32>);

impl OfFormat for RunExact<'_> {
    fn run<T: Format>(self) {
        self.0.run(Exact(self.1, PhantomData::<T>));
    }
}

fn with_format(dtype: DType, task: impl OfFormat) -> Result<(), MatmulError> {
    match dtype {
        DType::Q4_0 => task.run::<formats_32::Q4_0>(),
        DType::Q4_1 => task.run::<formats_32::Q4_1>(),
        DType::Q5_0 => task.run::<formats_32::Q5_0>(),
        DType::Q5_1 => task.run::<formats_32::Q5_1>(),
        DType::Q8_0 => task.run::<formats_32::Q8_0>(),
        DType::Q4_K => task.run::<formats_256::Q4K>(),
        DType::Q5_K => task.run::<formats_256::Q5K>(),
        DType::Q6_K => task.run::<formats_256::Q6K>(),
        DType::Q2_K => task.run::<formats_few_k::Q2K>(),
        DType::Q3_K => task.run::<formats_few_k::Q3K>(),
        DType::IQ1_S => task.run::<formats_iq1::Iq1S>(),
        DType::IQ1_M => task.run::<formats_iq1::Iq1M>(),
        DType::IQ2_XXS => task.run::<formats_codewords::Iq2Xxs>(),
        DType::IQ2_XS => task.run::<formats_codewords::Iq2Xs>(),
        DType::IQ2_S => task.run::<formats_codewords::Iq2S>(),
        DType::IQ3_XXS => task.run::<formats_codewords::Iq3Xxs>(),
        DType::IQ3_S => task.run::<formats_codewords::Iq3S>(),
        DType::IQ4_NL => task.run::<formats_levels::Iq4Nl>(),
        DType::IQ4_XS => task.run::<formats_levels::Iq4Xs>(),
        DType::TQ1_0 => task.run::<formats_few_bits::Tq1_0>(),
        DType::TQ2_0 => task.run::<formats_few_bits::Tq2_0>(),
        DType::MXFP4 => task.run::<formats_levels::Mxfp4>(),
        DType::NVFP4 => task.run::<formats_levels::Nvfp4>(),
        DType::Q1_0 => task.run::<formats_few_bits::Q1_0>(),
        DType::Q2_0 => task.run::<formats_few_bits::Q2_0>(),
        other => return Err(MatmulError::Type(other)),
    }
    Ok(())
}

fn check(what: &'static str, got: usize, want: usize) -> Result<(), MatmulError> {
    if got < want { Err(MatmulError::Length { what, got, want }) } else { Ok(()) }
}
