//! A few products with known answers, at the level in use.

use crate::simd::{
    ActivationBlock, Columns, Output, Simd, Weights, matmul_exact, matmul_fast, quantise, vector,
};
use weft_core::backend::DeviceError;
use weft_core::graph::DType;
use weft_core::quant;

/// Tests a reduction and both product modes.
pub(crate) fn run(simd: Simd) -> Result<(), DeviceError> {
    let values: Vec<f32> = (0..256).map(|i| ((i * 37 % 64) as f32 - 31.5) / 32.0).collect();
    let plain: f64 = values.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
    expect("dot", vector::dot(simd, &values, &values), plain, 1e-5)?;
    let Some(block) = quant::block_type(DType::Q8_0) else { return Ok(()) };
    let mut bytes = vec![0; 8 * DType::Q8_0.block_bytes() as usize];
    (block.encode)(&values, &mut bytes);
    let mut decoded = vec![0.0; 256];
    (block.decode)(&bytes, &mut decoded);
    let want: f64 = decoded.iter().zip(&values).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum();
    let failed = |e: crate::simd::MatmulError| DeviceError::SelfTest {
        what: "mul_mat",
        expected: "a result".to_owned(),
        got: e.to_string(),
    };
    let weights = Weights::new(DType::Q8_0, 256, &bytes).map_err(failed)?;
    let mut out = [f32::NAN];
    let columns = Columns { values: &values, stride: 256 };
    matmul_exact(simd, &weights, columns, Output::new(&mut out, 1, 1, 1).map_err(failed)?).map_err(failed)?;
    expect("exact product", out[0], want, 1e-4)?;
    let mut blocks = vec![ActivationBlock::default(); 8];
    quantise(simd, &values, &mut blocks);
    matmul_fast(simd, &weights, &blocks, Output::new(&mut out, 1, 1, 1).map_err(failed)?).map_err(failed)?;
    expect("8-bit product", out[0], want, 1.0)
}

fn expect(what: &'static str, got: f32, want: f64, within: f64) -> Result<(), DeviceError> {
    // NaN fails the comparison.
    if (f64::from(got) - want).abs() <= within {
        return Ok(());
    }
    Err(DeviceError::SelfTest { what, expected: want.to_string(), got: got.to_string() })
}
