//! Rows of the wrong length are refused before a codec sees them.

use weft_core::graph::DType;
use weft_core::quant::{QuantError, decode_row, encode_row, encode_row_weighted};

#[test]
fn a_row_that_is_not_whole_blocks_is_refused() {
    let error = decode_row(DType::Q4_K, &[0; 144], &mut [0.0; 200]);
    assert_eq!(error, Err(QuantError::Ragged { dtype: DType::Q4_K, values: 200 }));
}

#[test]
fn a_row_of_too_few_or_too_many_bytes_is_refused() {
    for got in [0, 33, 35, 68] {
        let error = decode_row(DType::Q8_0, &vec![0; got], &mut [0.0; 32]);
        assert_eq!(
            error,
            Err(QuantError::Length { dtype: DType::Q8_0, values: 32, want: 34, got: got as u64 })
        );
        let error = encode_row(DType::Q8_0, &[0.0; 32], &mut vec![0; got]);
        assert_eq!(
            error,
            Err(QuantError::Length { dtype: DType::Q8_0, values: 32, want: 34, got: got as u64 })
        );
    }
}

#[test]
fn importance_is_one_number_a_value_and_may_be_zero() {
    let values: [f32; 32] = std::array::from_fn(|at| at as f32);
    let mut bytes = [0; 18];
    let error = encode_row_weighted(DType::Q4_0, &values, &[1.0; 31], &mut bytes);
    assert_eq!(error, Err(QuantError::Importance { values: 32, got: 31 }));
    let mut out = [f32::NAN; 32];
    encode_row_weighted(DType::Q4_0, &values, &[0.0; 32], &mut bytes).unwrap();
    decode_row(DType::Q4_0, &bytes, &mut out).unwrap();
    assert!(out.iter().all(|value| value.is_finite()));
}

#[test]
fn a_type_without_a_codec_is_refused_by_name() {
    let error = decode_row(DType::F64, &[0; 8], &mut [0.0; 1]).unwrap_err();
    assert_eq!(error, QuantError::Unsupported { dtype: DType::F64 });
    assert_eq!(error.to_string(), "weft cannot read the type F64");
}

#[test]
fn an_empty_row_is_fine() {
    assert_eq!(decode_row(DType::Q6_K, &[], &mut []), Ok(()));
}
