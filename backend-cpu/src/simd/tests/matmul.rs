use weft_core::contract::ANY_WEIGHT;
use weft_core::graph::DType;

use super::super::{
    ACTIVATION_VALUES, ActivationBlock, Columns, Output, Simd, Weights, has_exact, has_fast, matmul_exact,
    matmul_fast, quantise,
};
use super::reference::{decode, random_row};
use super::{Random, levels};

/// Weights (which begin at an odd address), activations, and what is needed to judge results.
struct Case {
    dtype: DType,
    k: usize,
    rows: usize,
    columns: usize,
    bytes: Vec<u8>,
    decoded: Vec<Vec<f64>>,
    values: Vec<f32>,
}

impl Case {
    fn new(random: &mut Random, dtype: DType, k: usize, rows: usize, columns: usize) -> Self {
        let each: Vec<_> = (0..rows).map(|_| random_row(random, dtype, k)).collect();
        let decoded = each.iter().map(|row| decode(dtype, row)).collect();
        let mut bytes = vec![0];
        if bytes.as_ptr() as usize % 2 == 1 {
            bytes.push(0);
        }
        bytes.extend(each.concat());
        Case { dtype, k, rows, columns, bytes, decoded, values: random.floats(k * columns) }
    }

    fn weights(&self) -> Weights<'_> {
        let row = self.dtype.row_bytes(self.k as u64).expect("whole blocks") as usize;
        let bytes = &self.bytes[self.bytes.len() - self.rows * row..];
        Weights::new(self.dtype, self.k, bytes).expect("whole blocks")
    }

    fn fast(&self, simd: Simd, columns: std::ops::Range<usize>) -> (Vec<ActivationBlock>, Vec<f32>) {
        let mut blocks = vec![ActivationBlock::default(); columns.len() * self.k / ACTIVATION_VALUES];
        quantise(simd, &self.values[columns.start * self.k..columns.end * self.k], &mut blocks);
        let out = self.output(columns.len(), |out| matmul_fast(simd, &self.weights(), &blocks, out));
        (blocks, out)
    }

    fn exact(&self, simd: Simd, columns: std::ops::Range<usize>) -> Vec<f32> {
        let values = Columns { values: &self.values[columns.start * self.k..], stride: self.k };
        self.output(columns.len(), |out| matmul_exact(simd, &self.weights(), values, out))
    }

    /// Runs a product in two parts of rows. What lies between columns must stay as it was.
    fn output<E: std::fmt::Debug>(
        &self,
        columns: usize,
        run: impl Fn(Output<'_>) -> Result<(), E>,
    ) -> Vec<f32> {
        let stride = self.rows + 3;
        let mut out = vec![f32::NAN; columns * stride];
        let whole = Output::new(&mut out, self.rows, columns, stride).expect("long enough");
        let (first, second) = whole.split_at(self.rows / 3);
        run(first).expect("first part");
        run(second).expect("second part");
        for column in out.chunks_exact(stride) {
            assert!(
                column[self.rows..].iter().all(|v| v.is_nan()),
                "{} rows were written beyond",
                self.dtype
            );
        }
        out.chunks_exact(stride).flat_map(|column| column[..self.rows].to_vec()).collect()
    }

    /// Compares with Σ w·a in f64, relative to Σ |w·a|.
    fn judge(&self, name: &str, out: &[f32], activations: &[f64], limit: f64) {
        for column in 0..self.columns {
            let a = &activations[column * self.k..(column + 1) * self.k];
            for row in 0..self.rows {
                let products = || self.decoded[row].iter().zip(a).map(|(w, a)| w * a);
                let (want, size) = (products().sum::<f64>(), products().map(f64::abs).sum::<f64>());
                let got = f64::from(out[column * self.rows + row]);
                let error = (got - want).abs() / size.max(1e-30);
                assert!(
                    error <= limit,
                    "{name} {} k {} rows {} columns {}: row {row} column {column} is {got}, not {want} ({error:e})",
                    self.dtype,
                    self.k,
                    self.rows,
                    self.columns
                );
            }
        }
    }
}

fn lengths(dtype: DType) -> &'static [usize] {
    match dtype.block_values() {
        256 => &[256, 768, 1024, 2816],
        64 | 128 => &[128, 384, 1024, 2816],
        _ => &[32, 96, 256, 544, 1024, 2816],
    }
}

/// Row counts below, at and between the sizes of groups and tiles; column counts likewise.
fn cases() -> Vec<Case> {
    let mut random = Random(0x5EED_0001);
    let mut cases = vec![];
    for dtype in ANY_WEIGHT.iter().copied() {
        for &k in lengths(dtype) {
            for (rows, columns) in [(1, 1), (5, 2), (16, 7), (33, 3), (37, 9), (64, 1), (48, 8), (17, 31)] {
                cases.push(Case::new(&mut random, dtype, k, rows, columns));
            }
        }
        cases.push(Case::new(&mut random, dtype, 512, 67, 128));
    }
    cases
}

#[test]
fn exact_mode_is_within_rounding_of_the_sum() {
    for case in cases() {
        assert!(has_exact(case.dtype));
        let activations: Vec<_> = case.values.iter().map(|&v| f64::from(v)).collect();
        for simd in levels() {
            let out = case.exact(simd, 0..case.columns);
            case.judge(&format!("exact {:?}", simd.level()), &out, &activations, 1e-6);
        }
    }
}

#[test]
fn fast_mode_is_the_product_with_the_rounded_activations() {
    for case in cases().into_iter().filter(|case| has_fast(case.dtype)) {
        for simd in levels() {
            let (blocks, out) = case.fast(simd, 0..case.columns);
            let activations: Vec<_> =
                blocks.iter().flat_map(|b| b.values.map(|v| f64::from(b.scale) * f64::from(v))).collect();
            case.judge(&format!("fast {:?}", simd.level()), &out, &activations, 2e-6);
        }
    }
}

#[test]
fn a_column_does_not_depend_on_its_neighbours() {
    let mut random = Random(0x5EED_0002);
    for dtype in ANY_WEIGHT.iter().copied() {
        let case = Case::new(&mut random, dtype, 768, 70, 31);
        for simd in levels() {
            let all = case.exact(simd, 0..31);
            for columns in [0..1, 3..5, 7..10, 8..16, 22..31] {
                let some = case.exact(simd, columns.clone());
                assert_eq!(some, all[columns.start * 70..columns.end * 70], "exact {dtype} {simd:?}");
            }
            if has_fast(dtype) {
                let all = case.fast(simd, 0..31).1;
                for columns in [0..1, 3..5, 7..10, 8..16, 22..31] {
                    let some = case.fast(simd, columns.clone()).1;
                    assert_eq!(some, all[columns.start * 70..columns.end * 70], "fast {dtype} {simd:?}");
                }
            }
        }
    }
}

#[test]
fn what_is_not_a_number_is_seen_in_the_result() {
    let mut random = Random(0x5EED_0003);
    for dtype in ANY_WEIGHT.iter().copied() {
        let mut case = Case::new(&mut random, dtype, 256, 20, 2);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            case.values[256 + 100] = bad;
            for simd in levels() {
                let mut results = vec![case.exact(simd, 0..2)];
                if has_fast(dtype) {
                    results.push(case.fast(simd, 0..2).1);
                }
                for out in results {
                    assert!(out[..20].iter().all(|v| v.is_finite()), "{dtype} {simd:?} {bad}");
                    assert!(out[20..].iter().all(|v| !v.is_finite()), "{dtype} {simd:?} {bad}");
                }
            }
        }
    }
}
