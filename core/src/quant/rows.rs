//! Rows of whole blocks, with every length checked.

use thiserror::Error;

use super::{BlockType, block_type, weighted};
use crate::graph::DType;

/// Why a row cannot be decoded or encoded.
#[expect(missing_docs, reason = "each variant's message names its fields")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QuantError {
    #[error("weft cannot read the type {dtype}")]
    Unsupported { dtype: DType },
    #[error("a row of {values} values is not a whole number of {dtype} blocks of {}", .dtype.block_values())]
    Ragged { dtype: DType, values: u64 },
    #[error("{values} {dtype} values take {want} bytes, not {got}")]
    Length { dtype: DType, values: u64, want: u64, got: u64 },
    #[error("{values} values need as many numbers of importance, not {got}")]
    Importance { values: u64, got: u64 },
}

/// Decodes `bytes` into as many values as `out` holds.
///
/// # Errors
/// [`QuantError::Unsupported`] without a codec, [`QuantError::Ragged`] if `out` is not whole blocks,
/// [`QuantError::Length`] if `bytes` does not hold exactly that many.
pub fn decode_row(dtype: DType, bytes: &[u8], out: &mut [f32]) -> Result<(), QuantError> {
    let codec = checked(dtype, out.len(), bytes.len())?;
    (codec.decode)(bytes, out);
    Ok(())
}

/// Encodes `values` into `out`, which holds exactly their blocks.
///
/// # Errors
/// As [`decode_row`].
pub fn encode_row(dtype: DType, values: &[f32], out: &mut [u8]) -> Result<(), QuantError> {
    let codec = checked(dtype, values.len(), out.len())?;
    (codec.encode)(values, out);
    Ok(())
}

/// As [`encode_row`], with errors weighted: `importance` holds one number for each value, at least zero and finite. Types whose
/// scales are not searched for are encoded as by [`encode_row`].
///
/// # Errors
/// As [`decode_row`], and [`QuantError::Importance`] if there is not one number for each value.
pub fn encode_row_weighted(
    dtype: DType,
    values: &[f32],
    importance: &[f32],
    out: &mut [u8],
) -> Result<(), QuantError> {
    let codec = checked(dtype, values.len(), out.len())?;
    if importance.len() != values.len() {
        let (values, got) = (values.len() as u64, importance.len() as u64);
        return Err(QuantError::Importance { values, got });
    }
    match weighted::encoder(dtype) {
        Some(encode) => encode(values, importance, out),
        None => (codec.encode)(values, out),
    }
    Ok(())
}

fn checked(dtype: DType, values: usize, bytes: usize) -> Result<&'static BlockType, QuantError> {
    let (values, got) = (values as u64, bytes as u64);
    let codec = block_type(dtype).ok_or(QuantError::Unsupported { dtype })?;
    let want = dtype.row_bytes(values).ok_or(QuantError::Ragged { dtype, values })?;
    if want != got {
        return Err(QuantError::Length { dtype, values, want, got });
    }
    Ok(codec)
}
