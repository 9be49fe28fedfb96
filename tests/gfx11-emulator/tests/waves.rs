//! What lanes do together: sums over a wave, exchanges, matrix products. Expected values are computed here from the layout.

#![allow(clippy::unwrap_used, reason = "what fails here is a failed test")]

mod support;

use std::sync::OnceLock;

use gfx11_emulator::fault::FaultKind;
use gfx11_emulator::launch::Launch;
use support::*;

fn bench() -> Option<Bench> {
    static OBJECT: OnceLock<Vec<u8>> = OnceLock::new();
    is_ready().then(|| Bench::new(OBJECT.get_or_init(|| compile("waves.hip", &FAST))))
}

fn blocksum_error(bench: &Bench) -> f64 {
    let x = Random(5).floats(8 * 4096);
    let (input, output) = (bench.put(&x), bench.room(8 * 4));
    let arguments = Arguments::default().pointer(input).pointer(output).integer(4096);
    bench.run("blocksum", Launch::new([8, 1, 1], 256), arguments).unwrap();
    let wanted: Vec<f64> = x.chunks(4096).map(|block| block.iter().map(|x| f64::from(*x)).sum()).collect();
    max_error(&bench.get::<f32>(output, 8), &wanted)
}

#[test]
fn a_block_sums_its_numbers() {
    let Some(bench) = bench() else { return };
    let error = blocksum_error(&bench);
    assert!(error < 1e-3, "{error}");
}

/// clang-19 sinks `v_permlanex16` under the `if` of one lane, and the sum comes out wrong. When a later compiler passes this, the
/// pin in the kernels' header may go.
#[test]
fn a_miscompile_of_the_row_exchange_is_seen() {
    if !is_ready() {
        return;
    }
    let flags = [&FAST[..], &["-DPK_NO_PIN"]].concat();
    let error = blocksum_error(&Bench::new(&compile("waves.hip", &flags)));
    assert!(error > 1e-2 || error.is_nan(), "{error}");
}

fn half(bits: u16) -> f64 {
    half::f16::from_bits(bits).to_f64()
}

fn product<T: Copy>(
    a: &[T],
    b: &[T],
    (rows, columns, depth): (usize, usize, usize),
    value: impl Fn(T) -> f64,
) -> Vec<f64> {
    let entry = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        (0..depth).map(|k| value(a[row * depth + k]) * value(b[column * depth + k])).sum()
    };
    (0..rows * columns).map(entry).collect()
}

#[test]
fn a_matrix_product_goes_through_lds() {
    let Some(bench) = bench() else { return };
    let (m, n, k) = (64, 96, 128);
    let mut random = Random(3);
    let (a, b) = (random.halves(m * k), random.halves(n * k));
    let c = bench.room(4 * m * n);
    let arguments =
        Arguments::default().pointer(bench.put(&a)).pointer(bench.put(&b)).pointer(c).integer(n).integer(k);
    bench.run("gemm16", Launch::new([n as u32 / 32, m as u32 / 32, 1], 128), arguments).unwrap();
    let wanted = product(&a, &b, (m, n, k), half);
    assert!(max_error(&bench.get::<f32>(c, m * n), &wanted) < 1e-4);
}

#[test]
fn matrix_products_of_other_types_are_right() {
    let Some(bench) = bench() else { return };
    let mut random = Random(19);
    let wide = |bits: u16| f64::from(f32::from_bits(u32::from(bits) << 16));
    let bf16: Vec<u16> = random.floats(512).iter().map(|x| (x.to_bits() >> 16) as u16).collect();
    let (a, b) = bf16.split_at(256);
    let run = |kernel: &str, a: u64, b: u64, bytes: usize| {
        let c = bench.room(bytes);
        bench.run(kernel, one_wave(), Arguments::default().pointer(a).pointer(b).pointer(c)).unwrap();
        c
    };
    let c = run("wmma_bf16", bench.put(a), bench.put(b), 1024);
    assert!(max_error(&bench.get::<f32>(c, 256), &product(a, b, (16, 16, 16), wide)) < 1e-5);

    let (a, b) = (random.halves(256), random.halves(256));
    let c = run("wmma_f16", bench.put(&a), bench.put(&b), 1024);
    let found: Vec<f32> = bench.get::<u16>(c, 512).into_iter().map(|bits| half(bits) as f32).collect();
    assert!(max_error(&found[..256], &product(&a, &b, (16, 16, 16), half)) < 4e-3);
    assert!(max_error(&found[256..], &product(&b, &a, (16, 16, 16), half)) < 4e-3);
}

/// Two nibbles a byte, low first.
fn nibbles(bytes: &[i8], is_signed: bool) -> Vec<i32> {
    let value = |nibble: i32| if is_signed && nibble > 7 { nibble - 16 } else { nibble };
    bytes.iter().flat_map(|byte| [value(i32::from(*byte) & 15), value(i32::from(*byte) >> 4 & 15)]).collect()
}

#[test]
fn integer_matrix_products_are_exact() {
    let Some(bench) = bench() else { return };
    for (kernel, row_bytes) in [("wmma_iu8", 16), ("wmma_iu4", 8)] {
        let mut random = Random(17);
        let (a, b) = (random.bytes(16 * row_bytes), random.bytes(16 * row_bytes));
        let c = bench.room(1024);
        let arguments = Arguments::default().pointer(bench.put(&a)).pointer(bench.put(&b)).pointer(c);
        bench.run(kernel, one_wave(), arguments).unwrap();
        let (a, b): (Vec<i32>, Vec<i32>) = if row_bytes == 16 {
            (a.iter().map(|x| i32::from(*x)).collect(), b.iter().map(|x| i32::from(*x)).collect())
        } else {
            (nibbles(&a, false), nibbles(&b, true))
        };
        let wanted: Vec<i32> = product(&a, &b, (16, 16, 16), f64::from).iter().map(|x| *x as i32).collect();
        assert_eq!(bench.get::<i32>(c, 256), wanted, "{kernel}");
    }
}

#[test]
fn a_matrix_product_needs_its_fragments_and_its_lanes() {
    let Some(bench) = bench() else { return };
    let (a, c) = (bench.put(&Random(23).halves(512)), bench.room(1024));
    let arguments = Arguments::default().pointer(a).pointer(c);
    let fault = bench.fault("wmma_not_repeated", one_wave(), arguments.clone());
    assert!(matches!(fault, FaultKind::NotRepeated { .. }), "{fault}");
    let fault = bench.fault("wmma_masked", one_wave(), arguments.clone().integer(20));
    assert_eq!(fault, FaultKind::LanesMaskedOff { exec: 0xf_ffff });
    bench.run("wmma_masked", one_wave(), arguments.integer(32)).unwrap();
}

/// Each row of the kernel `exchange`, in its order: the lane that lane `l` reads, or a value.
fn wanted_of_exchange(x: &[i32]) -> Vec<Vec<i32>> {
    let row = |f: &dyn Fn(usize) -> i32| (0..32).map(f).collect::<Vec<i32>>();
    let lane = |f: &dyn Fn(usize) -> usize| row(&|l| x[f(l)]);
    // Outside its row a lane keeps the old value.
    let inside = |from: Option<usize>, otherwise: i32| from.map_or(otherwise, |from| x[from]);
    let scattered = row(&|l| x[(0..32).find(|from| (from * 7 + 3) & 31 == l).unwrap()]);
    vec![
        lane(&|l| l ^ 1),
        lane(&|l| l ^ 2),
        lane(&|l| l ^ 4),
        lane(&|l| l ^ 8),
        lane(&|l| l ^ 16),
        row(&|l| inside((l % 16 < 15).then_some(l + 1), -1)),
        row(&|l| inside((l % 16 >= 2).then(|| l - 2), -1)),
        lane(&|l| (l & 16) + (l + 12) % 16),
        lane(&|l| (l & 16) + 15 - l % 16),
        lane(&|l| (l & 24) + 7 - l % 8),
        lane(&|l| (l & 16) + 3),
        lane(&|l| (l & 28) + 3 - l % 4),
        row(&|l| inside((l < 16).then_some(l ^ 1), -1)),
        row(&|l| inside((l % 16 >= 1).then(|| l - 1), 0)),
        lane(&|l| (l & 28) + [3, 3, 1, 0][l % 4]),
        lane(&|l| l ^ 16),
        lane(&|l| (l * 7 + 3) & 31),
        scattered,
        lane(&|l| l),
        lane(&|l| (l & 16) + 15 - l % 16),
        row(&|_| x[5].wrapping_add(x[0])),
        row(&|l| (0x5555_5555u32 & ((1u32 << l) - 1)).count_ones() as i32 + l as i32),
    ]
}

#[test]
fn lanes_exchange_values() {
    let Some(bench) = bench() else { return };
    let mut random = Random(21);
    let x: Vec<i32> = (0..32).map(|_| random.word() as i32).collect();
    let wanted = wanted_of_exchange(&x);
    let output = bench.room(4 * 32 * wanted.len());
    bench.run("exchange", one_wave(), Arguments::default().pointer(bench.put(&x)).pointer(output)).unwrap();
    let found = bench.get::<i32>(output, 32 * wanted.len());
    for (k, (found, wanted)) in found.chunks(32).zip(&wanted).enumerate() {
        assert_eq!(found, wanted, "pattern {k}");
    }
}
