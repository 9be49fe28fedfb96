//! Plain numbers: F32, F16 and BF16, little endian, as blocks of one value.

use half::{bf16, f16};

use super::BlockType;
use crate::graph::DType;

/// 32-bit floats.
pub static F32: BlockType = BlockType { dtype: DType::F32, decode: decode_f32, encode: encode_f32 };
/// 16-bit floats with a 5-bit exponent.
pub static F16: BlockType = BlockType { dtype: DType::F16, decode: decode_f16, encode: encode_f16 };
/// The upper half of 32-bit floats.
pub static BF16: BlockType = BlockType { dtype: DType::BF16, decode: decode_bf16, encode: encode_bf16 };

fn decode_f32(bytes: &[u8], values: &mut [f32]) {
    for (value, number) in values.iter_mut().zip(bytes.as_chunks().0) {
        *value = f32::from_le_bytes(*number);
    }
}

fn encode_f32(values: &[f32], bytes: &mut [u8]) {
    for (number, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
        *number = value.to_le_bytes();
    }
}

fn decode_f16(bytes: &[u8], values: &mut [f32]) {
    for (value, number) in values.iter_mut().zip(bytes.as_chunks().0) {
        *value = f16::from_le_bytes(*number).to_f32();
    }
}

fn encode_f16(values: &[f32], bytes: &mut [u8]) {
    for (number, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
        *number = f16::from_f32(*value).to_le_bytes();
    }
}

fn decode_bf16(bytes: &[u8], values: &mut [f32]) {
    for (value, number) in values.iter_mut().zip(bytes.as_chunks().0) {
        *value = bf16::from_le_bytes(*number).to_f32();
    }
}

fn encode_bf16(values: &[f32], bytes: &mut [u8]) {
    for (number, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
        *number = bf16::from_f32(*value).to_le_bytes();
    }
}
