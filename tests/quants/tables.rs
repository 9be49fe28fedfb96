//! Decoding against `dequant.safetensors.zst`: for each type, 8 rows of raw blocks and the 512 values of each.

use safetensors::SafeTensors;
use std::sync::LazyLock;
use weft_core::graph::{DType, TYPES};
use weft_core::quant::{BLOCK_TYPES, block_type, decode_row, encode_row, encode_row_weighted};

static TABLES: LazyLock<Vec<u8>> =
    LazyLock::new(|| zstd::decode_all(&include_bytes!("../fixtures/dequant.safetensors.zst")[..]).unwrap());
const COLUMNS: usize = 512;

fn floats(tables: &SafeTensors, name: &str) -> Vec<f32> {
    let bytes = tables.tensor(name).unwrap().data();
    bytes.as_chunks().0.iter().map(|number| f32::from_le_bytes(*number)).collect()
}

/// Largest error of an encoded value, as a part of the largest magnitude of its row: half a step of a good encoder,
/// with a third of it spare for the rounding of the scales themselves. Of types whose levels are uneven or codewords, what
/// the widest gap between them leaves.
fn bound(dtype: DType) -> f32 {
    match dtype {
        DType::F32 => 0.0,
        DType::F16 => 1.0 / 2048.0,
        DType::BF16 => 1.0 / 256.0,
        DType::Q8_0 => 0.0045,
        DType::Q6_K => 0.03,
        DType::Q5_0 | DType::Q5_1 | DType::Q5_K => 0.07,
        DType::IQ3_XXS | DType::IQ3_S | DType::MXFP4 | DType::NVFP4 => 0.25,
        DType::IQ2_S => 0.28,
        DType::IQ2_XS | DType::Q2_K => 0.36,
        DType::IQ2_XXS | DType::TQ1_0 | DType::TQ2_0 | DType::Q2_0 => 0.51,
        DType::IQ1_S | DType::IQ1_M => 0.65,
        DType::Q1_0 => 0.95,
        _ => 0.14,
    }
}

#[test]
fn every_type_decodes_its_table_exactly() {
    let tables = SafeTensors::deserialize(&TABLES).unwrap();
    let mut checked = 0;
    for codec in BLOCK_TYPES {
        let name = codec.dtype.name();
        let Ok(raw) = tables.tensor(&format!("{name}.raw")) else {
            assert_eq!(codec.dtype, DType::F32, "{name} has no table");
            continue;
        };
        let want = floats(&tables, &format!("{name}.f32"));
        let row_bytes = codec.dtype.row_bytes(COLUMNS as u64).unwrap() as usize;
        assert_eq!(raw.data().len(), 8 * row_bytes, "{name}");
        let mut out = vec![f32::NAN; COLUMNS];
        for (row, (bytes, want)) in raw.data().chunks(row_bytes).zip(want.chunks(COLUMNS)).enumerate() {
            decode_row(codec.dtype, bytes, &mut out).unwrap();
            for (column, (got, want)) in out.iter().zip(want).enumerate() {
                let both_zero = *got == 0.0 && *want == 0.0;
                assert!(
                    both_zero || got.to_bits() == want.to_bits(),
                    "{name} row {row} column {column}: {got} is not {want}"
                );
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 27);
}

#[test]
fn plain_floats_pass_unchanged() {
    let tables = SafeTensors::deserialize(&TABLES).unwrap();
    let bytes = tables.tensor("source.f32").unwrap().data();
    let want = floats(&tables, "source.f32");
    let mut out = vec![0.0; want.len()];
    decode_row(DType::F32, bytes, &mut out).unwrap();
    assert_eq!(out, want);
}

#[test]
fn encoding_stays_within_half_a_step_of_the_source() {
    let tables = SafeTensors::deserialize(&TABLES).unwrap();
    for codec in BLOCK_TYPES {
        for (row, source) in floats(&tables, "source.f32").chunks(COLUMNS).enumerate() {
            let mut bytes = vec![0; codec.dtype.row_bytes(COLUMNS as u64).unwrap() as usize];
            let mut out = vec![f32::NAN; COLUMNS];
            encode_row(codec.dtype, source, &mut bytes).unwrap();
            decode_row(codec.dtype, &bytes, &mut out).unwrap();
            let peak = source.iter().fold(0.0f32, |peak, x| peak.max(x.abs()));
            for (column, (got, want)) in out.iter().zip(source).enumerate() {
                let off = (got - want).abs() / peak;
                assert!(off <= bound(codec.dtype), "{} row {row} column {column}: {off}", codec.dtype);
            }
        }
    }
}

/// Sums of squared errors. The table's encoder searches scales for the types of 32 values too; weft only rounds those.
#[test]
fn encoding_is_about_as_good_as_the_tables_encoder() {
    let tables = SafeTensors::deserialize(&TABLES).unwrap();
    let source = floats(&tables, "source.f32");
    for codec in BLOCK_TYPES.into_iter().filter(|codec| codec.dtype != DType::F32) {
        let theirs = &floats(&tables, &format!("{}.f32", codec.dtype))[..source.len()];
        let mut bytes = vec![0; codec.dtype.row_bytes(source.len() as u64).unwrap() as usize];
        let mut ours = vec![f32::NAN; source.len()];
        encode_row(codec.dtype, &source, &mut bytes).unwrap();
        decode_row(codec.dtype, &bytes, &mut ours).unwrap();
        let squares =
            |values: &[f32]| values.iter().zip(&source).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
        let (ours, theirs) = (squares(&ours), squares(theirs));
        let allowed = if codec.dtype.block_values() == 32 { 1.4 } else { 1.1 };
        assert!(ours <= allowed * theirs, "{}: {ours:e} against {theirs:e}", codec.dtype);
    }
}

/// The table's encoder had an importance matrix of ones.
#[test]
fn weighted_encoding_is_as_good_as_the_tables_encoder() {
    let tables = SafeTensors::deserialize(&TABLES).unwrap();
    let source = floats(&tables, "source.f32");
    for dtype in [DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q5_1, DType::Q4_K, DType::Q5_K, DType::Q6_K] {
        let theirs = &floats(&tables, &format!("{dtype}.f32"))[..source.len()];
        let mut bytes = vec![0; dtype.row_bytes(source.len() as u64).unwrap() as usize];
        let mut ours = vec![f32::NAN; source.len()];
        encode_row_weighted(dtype, &source, &vec![1.0; source.len()], &mut bytes).unwrap();
        decode_row(dtype, &bytes, &mut ours).unwrap();
        let rms = |values: &[f32]| {
            let squares = values.iter().zip(&source).map(|(a, b)| f64::from(a - b).powi(2));
            (squares.sum::<f64>() / source.len() as f64).sqrt()
        };
        let (ours, theirs) = (rms(&ours), rms(theirs));
        eprintln!("{dtype}: {:.4} of the table's error", ours / theirs);
        assert!(ours <= 1.02 * theirs, "{dtype}: {ours:e} against {theirs:e}");
    }
}

#[test]
fn encoding_odd_rows_gives_finite_blocks() {
    for codec in BLOCK_TYPES.into_iter().filter(|codec| codec.dtype.is_quantised()) {
        for odd in [0.0, -0.0, 1e-45, 1e-8, 6e4, -3e38, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut source = [0.5; COLUMNS];
            source[7] = odd;
            source[300..340].fill(odd);
            let mut bytes = vec![0; codec.dtype.row_bytes(COLUMNS as u64).unwrap() as usize];
            let mut out = [f32::NAN; COLUMNS];
            encode_row(codec.dtype, &source, &mut bytes).unwrap();
            decode_row(codec.dtype, &bytes, &mut out).unwrap();
            assert!(out.iter().all(|x| x.is_finite()), "{} with {odd}", codec.dtype);
        }
    }
}

#[test]
fn any_bytes_decode_without_a_panic() {
    for codec in BLOCK_TYPES {
        for byte in [0x00, 0x7f, 0x80, 0xff] {
            let bytes = vec![byte; codec.dtype.row_bytes(COLUMNS as u64).unwrap() as usize];
            decode_row(codec.dtype, &bytes, &mut [0.0; COLUMNS]).unwrap();
        }
    }
}

#[test]
fn types_without_a_codec_are_not_found() {
    assert!(block_type(DType::F64).is_none());
    assert!(block_type(DType::Q4_K).is_some());
    assert!(TYPES.iter().filter(|row| row.dtype.is_quantised()).all(|row| block_type(row.dtype).is_some()));
}
