use weft_core::graph::DType;

use super::super::{ActivationBlock, Columns, MatmulError, Output, Weights, matmul_exact, matmul_fast};
use super::levels;

#[test]
fn refuses_rows_that_are_not_whole_blocks() {
    for (dtype, k) in [(DType::Q8_0, 48), (DType::Q4_K, 32), (DType::F32, 33), (DType::F32, 0)] {
        assert_eq!(Weights::new(dtype, k, &[0; 4096]).err(), Some(MatmulError::RowLength { k }));
    }
}

#[test]
fn refuses_slices_that_are_too_short() {
    let weights = Weights::new(DType::Q8_0, 64, &[0; 68 * 3]).expect("whole blocks");
    assert_eq!(weights.rows(), 3);
    let simd = levels()[0];
    let blocks = [ActivationBlock::default(); 4];
    let mut values = [0.0; 8];
    assert!(Output::new(&mut values, 5, 2, 4).is_err());
    assert!(Output::new(&mut values, 3, 2, 2).is_err());
    assert!(Output::new(&mut values, 3, usize::MAX, 4).is_err());
    assert!(Output::new(&mut values, 3, 0, 4).is_ok());
    let mut run = |rows, columns, floats: &[f32]| {
        let out = Output::new(&mut values, rows, columns, 4).expect("long enough");
        let fast = matmul_fast(simd, &weights, &blocks, out);
        let out = Output::new(&mut values, rows, columns, 4).expect("long enough");
        (fast, matmul_exact(simd, &weights, Columns { values: floats, stride: 64 }, out))
    };
    assert_eq!(run(3, 2, &[0.0; 128]), (Ok(()), Ok(())));
    let error = |what, got, want| Err(MatmulError::Length { what, got, want });
    assert_eq!(run(3, 2, &[0.0; 127]).1, error("activations", 127, 128));
    assert_eq!(run(4, 1, &[0.0; 128]).0, error("rows of weights", 3, 4));
    assert_eq!(run(4, 1, &[0.0; 128]).1, error("rows of weights", 3, 4));
    let out = Output::new(&mut values, 2, 2, 4).expect("long enough");
    assert_eq!(matmul_fast(simd, &weights, &blocks[..3], out), error("activation blocks", 3, 4));
}

#[test]
fn refuses_types_without_a_kernel() {
    let simd = levels()[0];
    let mut values = [0.0; 1];
    let weights = Weights::new(DType::I8, 256, &[0; 256]).expect("whole blocks");
    let out = Output::new(&mut values, 1, 1, 1).expect("long enough");
    let columns = Columns { values: &[0.0; 256], stride: 256 };
    assert_eq!(matmul_exact(simd, &weights, columns, out), Err(MatmulError::Type(DType::I8)));
    let weights = Weights::new(DType::F32, 32, &[0; 128]).expect("whole blocks");
    let out = Output::new(&mut values, 1, 1, 1).expect("long enough");
    let blocks = [ActivationBlock::default()];
    assert_eq!(matmul_fast(simd, &weights, &blocks, out), Err(MatmulError::Type(DType::F32)));
}
