//! Rows of the wrong length are refused before a codec sees them.

use weft_core::graph::DType;
use weft_core::quant::{QuantError, decode_row, encode_row};

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
fn a_type_without_a_codec_is_refused_by_name() {
    let error = decode_row(DType::F64, &[0; 8], &mut [0.0; 1]).unwrap_err();
    assert_eq!(error, QuantError::Unsupported { dtype: DType::F64 });
    assert_eq!(error.to_string(), "weft cannot read the type F64");
}

#[test]
fn an_empty_row_is_fine() {
    assert_eq!(decode_row(DType::Q6_K, &[], &mut []), Ok(()));
}
