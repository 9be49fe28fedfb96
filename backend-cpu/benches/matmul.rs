//! Speed of the products, on one thread.
//!
//! `cargo bench -p weft-cpu --bench matmul -- [fast|exact] [type]… [level=avx2|portable] [columns=1]
//! [seconds=0.3]`
//!
//! For one column the figure is bytes of weights per second, beside the speed of reading as many bytes without doing
//! anything. For many columns it is multiply-adds per second, beside the peak of the arithmetic unit. Best of many
//! repetitions, since other work may run on the machine.

use std::hint::black_box;
use std::time::Instant;

use half::f16;
use weft_core::graph::DType;
use weft_cpu::simd::{
    ActivationBlock, Columns, Level, Output, Simd, Weights, has_fast, matmul_exact, matmul_fast, quantise,
    vector,
};

const TYPES: [DType; 11] = [
    DType::Q8_0,
    DType::Q4_1,
    DType::Q4_K,
    DType::Q6_K,
    DType::Q4_0,
    DType::Q5_0,
    DType::Q5_1,
    DType::Q5_K,
    DType::F16,
    DType::BF16,
    DType::F32,
];

/// k, rows, columns.
const SHAPES: [(usize, usize, usize); 12] = [
    (576, 576, 1),
    (576, 1536, 1),
    (1024, 3584, 1),
    (2048, 2048, 1),
    (1024, 248_320, 1),
    (3584, 65_536, 1),
    (1024, 3584, 4),
    (1024, 3584, 16),
    (576, 1536, 128),
    (1024, 3584, 128),
    (2048, 2048, 128),
    (3584, 1024, 128),
];

fn main() {
    let options: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let has = |name: &str| options.iter().any(|o| o.eq_ignore_ascii_case(name));
    let simd = match (has("level=portable"), has("level=avx2")) {
        (true, _) => Simd::at_most(Level::Portable),
        (_, true) => Simd::at_most(Level::Avx2),
        _ => Simd::detect(),
    };
    let seconds = options.iter().find_map(|o| o.strip_prefix("seconds=")?.parse().ok()).unwrap_or(0.3);
    let named: Vec<_> = options.iter().filter_map(|o| DType::from_name(o)).collect();
    let only: Option<usize> = options.iter().find_map(|o| o.strip_prefix("columns=")?.parse().ok());
    println!("{:?}; peaks: {}", simd.level(), peaks(seconds));
    println!("{:5} {:>6}  {:>5} x {:>6}  columns  result", "mode", "type", "k", "rows");
    for dtype in TYPES.into_iter().filter(|d| named.is_empty() || named.contains(d)) {
        for (k, rows, columns) in SHAPES {
            if only.is_some_and(|only| only != columns) {
                continue;
            }
            let Some(bytes) = dtype.row_bytes(k as u64) else { continue };
            let Some(weights) = weights(dtype, rows, bytes as usize) else { continue };
            for fast in [true, false] {
                let mode = if fast { "fast" } else { "exact" };
                let wanted = if fast { has_fast(dtype) && !has("exact") } else { !has("fast") };
                if !wanted {
                    continue;
                }
                let case = Case { dtype, k, rows, columns, fast };
                let time = measure(simd, &case, &weights, seconds);
                let speed = if columns == 1 {
                    let read = read_speed(simd, &weights, seconds);
                    let got = weights.len() as f64 / time / 1e9;
                    format!("{got:7.1} GB/s of {read:.0} ({:.0} %)", 100.0 * got / read)
                } else {
                    format!("{:7.1} GMAC/s", (k * rows * columns) as f64 / time / 1e9)
                };
                println!(
                    "{mode:5} {:>6}  {k:5} x {rows:6}  {columns:7}  {speed}  {:.1} us",
                    dtype.name(),
                    time * 1e6
                );
            }
        }
    }
}

/// Rows of one random row each, with scales that keep results finite.
fn weights(dtype: DType, rows: usize, row_bytes: usize) -> Option<Vec<u8>> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut row: Vec<u8> = (0..row_bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect();
    let scale = f16::from_f32(0.01).to_le_bytes();
    let at: &[usize] = match dtype {
        DType::Q4_0 | DType::Q5_0 | DType::Q8_0 => &[0],
        DType::Q4_1 | DType::Q5_1 | DType::Q4_K | DType::Q5_K => &[0, 2],
        DType::Q6_K => &[208],
        DType::F16 | DType::BF16 => &[0],
        _ => &[2],
    };
    for block in row.chunks_exact_mut(dtype.block_bytes() as usize) {
        for &at in at {
            block.get_mut(at..at + 2)?.copy_from_slice(&scale);
        }
    }
    Some(row.repeat(rows))
}

struct Case {
    dtype: DType,
    k: usize,
    rows: usize,
    columns: usize,
    fast: bool,
}

/// Seconds of a product, with the rounding of activations in the fast mode.
fn measure(simd: Simd, case: &Case, bytes: &[u8], seconds: f64) -> f64 {
    let &Case { dtype, k, rows, columns, fast } = case;
    let values: Vec<f32> = (0..k * columns).map(|i| ((i * 37) % 101) as f32 * 0.02 - 1.0).collect();
    let mut blocks = vec![ActivationBlock::default(); k / 32 * columns];
    let mut out = vec![0.0; rows * columns];
    best(seconds, || {
        let Ok(weights) = Weights::new(dtype, k, black_box(bytes)) else { return };
        let Ok(to) = Output::new(&mut out, rows, columns, rows) else { return };
        let done = if fast {
            quantise(simd, &values, &mut blocks);
            matmul_fast(simd, &weights, &blocks, to)
        } else {
            matmul_exact(simd, &weights, Columns { values: &values, stride: k }, to)
        };
        assert!(done.is_ok());
    })
}

/// Seconds of the fastest run.
fn best(seconds: f64, mut run: impl FnMut()) -> f64 {
    run();
    let start = Instant::now();
    let mut best = f64::MAX;
    while start.elapsed().as_secs_f64() < seconds {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// Reads all bytes as floats and adds them up.
fn read_speed(simd: Simd, bytes: &[u8], seconds: f64) -> f64 {
    // SAFETY: any four bytes are an f32.
    let (_, floats, _) = unsafe { bytes.align_to::<f32>() };
    let time = best(seconds, || {
        black_box(vector::sum(simd, black_box(floats)));
    });
    bytes.len() as f64 / time / 1e9
}

#[cfg(target_arch = "x86_64")]
fn peaks(seconds: f64) -> String {
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512vnni")]
    fn products(count: usize) -> i32 {
        let mut sums = [_mm512_setzero_si512(); 12];
        let (a, b) = (_mm512_set1_epi32(black_box(3)), _mm512_set1_epi32(black_box(5)));
        for _ in 0..count {
            for sum in &mut sums {
                *sum = _mm512_dpbusd_epi32(*sum, a, b);
            }
        }
        sums.into_iter().map(|s| _mm512_reduce_add_epi32(s)).fold(0, i32::wrapping_add)
    }

    #[target_feature(enable = "avx512f")]
    fn float_products(count: usize) -> f32 {
        let mut sums = [_mm512_setzero_ps(); 12];
        let (a, b) = (_mm512_set1_ps(black_box(3.0)), _mm512_set1_ps(black_box(5.0)));
        for _ in 0..count {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(a, b, *sum);
            }
        }
        sums.into_iter().map(|s| _mm512_reduce_add_ps(s)).sum()
    }

    if Simd::detect().level() < Level::Avx512Vnni {
        return "not measured".to_owned();
    }
    let count = 100_000;
    // SAFETY: the level was found.
    let bytes = best(seconds, || unsafe {
        black_box(products(count));
    });
    // SAFETY: as above.
    let floats = best(seconds, || unsafe {
        black_box(float_products(count));
    });
    let speed = |lanes: f64, time: f64| count as f64 * 12.0 * lanes / time / 1e9;
    format!("{:.0} GMAC/s on bytes, {:.0} GMAC/s on floats", speed(64.0, bytes), speed(16.0, floats))
}

#[cfg(not(target_arch = "x86_64"))]
fn peaks(_seconds: f64) -> String {
    "not measured".to_owned()
}
