//! Block types decoded by plain loops, and random blocks.

use half::{bf16, f16};
use weft_core::graph::DType;
use weft_core::quant::decode_row;

use super::Random;

/// A packed row of `k` random weights. Integers take all values, scales are of usual size and either sign.
pub fn random_row(random: &mut Random, dtype: DType, k: usize) -> Vec<u8> {
    let mut row: Vec<u8> =
        (0..dtype.row_bytes(k as u64).expect("whole blocks")).map(|_| random.next() as u8).collect();
    let half_at: &[usize] = match dtype {
        DType::Q4_0 | DType::Q5_0 | DType::Q8_0 => &[0],
        DType::Q4_1 | DType::Q5_1 | DType::Q4_K | DType::Q5_K => &[0, 2],
        DType::Q6_K => &[208],
        DType::Q2_K => &[80, 82],
        DType::Q3_K => &[108],
        DType::TQ1_0 => &[52],
        DType::TQ2_0 => &[64],
        DType::IQ1_M | DType::MXFP4 | DType::NVFP4 => &[],
        DType::F32 => return random.floats(k).into_iter().flat_map(f32::to_le_bytes).collect(),
        DType::F16 => {
            return random.floats(k).into_iter().flat_map(|v| f16::from_f32(v).to_le_bytes()).collect();
        }
        DType::BF16 => {
            return random.floats(k).into_iter().flat_map(|v| bf16::from_f32(v).to_le_bytes()).collect();
        }
        _ => &[0],
    };
    for block in row.chunks_exact_mut(dtype.block_bytes() as usize) {
        for &at in half_at {
            block[at..at + 2].copy_from_slice(&f16::from_f32(random.float() * 0.01).to_le_bytes());
        }
        match dtype {
            // The upper bits of an f16 of at most 2^-4 with either sign.
            DType::IQ1_M => block[55] = block[55] & 0x8F | 0x20,
            DType::MXFP4 => block[0] = 110 + block[0] % 16,
            // The code of NaN.
            DType::NVFP4 => block[..4].iter_mut().for_each(|scale| *scale = (*scale & 0x7F).min(0x7E)),
            _ => {}
        }
    }
    row
}

fn half(bytes: &[u8], at: usize) -> f64 {
    f16::from_le_bytes([bytes[at], bytes[at + 1]]).to_f64()
}

/// The exact values of a packed row.
pub fn decode(dtype: DType, row: &[u8]) -> Vec<f64> {
    row.chunks_exact(dtype.block_bytes() as usize).flat_map(|block| decode_block(dtype, block)).collect()
}

fn decode_block(dtype: DType, b: &[u8]) -> Vec<f64> {
    let nibble = |at: usize, j: usize| if j < 16 { b[at + j] & 15 } else { b[at + j - 16] >> 4 };
    let fifth = |at: usize, j: usize| (b[at + j / 8] >> (j % 8) & 1) << 4;
    let each = |value: &dyn Fn(usize) -> f64| (0..32).map(value).collect();
    match dtype {
        DType::F32 => vec![f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))],
        DType::F16 => vec![half(b, 0)],
        DType::BF16 => vec![bf16::from_le_bytes([b[0], b[1]]).to_f64()],
        DType::Q4_0 => each(&|j| half(b, 0) * (f64::from(nibble(2, j)) - 8.0)),
        DType::Q4_1 => each(&|j| half(b, 0) * f64::from(nibble(4, j)) + half(b, 2)),
        DType::Q5_0 => each(&|j| half(b, 0) * (f64::from(nibble(6, j) | fifth(2, j)) - 16.0)),
        DType::Q5_1 => each(&|j| half(b, 0) * f64::from(nibble(8, j) | fifth(4, j)) + half(b, 2)),
        DType::Q8_0 => each(&|j| half(b, 0) * f64::from(b[2 + j] as i8)),
        DType::Q4_K => decode_q45_k(b, &b[16..], None),
        DType::Q5_K => decode_q45_k(b, &b[48..], Some(&b[16..48])),
        DType::Q6_K => decode_q6_k(b),
        // The tables of `tests/quants` hold for these.
        other => {
            let mut values = vec![0.0; other.block_values() as usize];
            decode_row(other, b, &mut values).expect("a block");
            values.into_iter().map(f64::from).collect()
        }
    }
}

fn decode_q45_k(b: &[u8], nibbles: &[u8], fifth: Option<&[u8]>) -> Vec<f64> {
    let s = &b[4..16];
    (0..256)
        .map(|i| {
            let (j, l) = (i / 32, i % 32);
            let (scale, minimum) = if j < 4 {
                (s[j] & 63, s[j + 4] & 63)
            } else {
                (s[j + 4] & 15 | s[j - 4] >> 6 << 4, s[j + 4] >> 4 | s[j] >> 6 << 4)
            };
            let packed = nibbles[32 * (j / 2) + l];
            let low = if j % 2 == 0 { packed & 15 } else { packed >> 4 };
            let high = fifth.map_or(0, |bits| (bits[l] >> j & 1) << 4);
            half(b, 0) * f64::from(scale) * f64::from(low | high) - half(b, 2) * f64::from(minimum)
        })
        .collect()
}

fn decode_q6_k(b: &[u8]) -> Vec<f64> {
    (0..256)
        .map(|i| {
            let (big, part, l) = (i / 128, i / 32 % 4, i % 32);
            let packed = b[64 * big + l + 32 * (part % 2)];
            let low = if part < 2 { packed & 15 } else { packed >> 4 };
            let high = b[128 + 32 * big + l] >> (2 * part) & 3;
            half(b, 208) * f64::from(b[192 + i / 16] as i8) * (f64::from(low | high << 4) - 32.0)
        })
        .collect()
}
