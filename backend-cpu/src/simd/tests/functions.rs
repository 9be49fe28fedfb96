use super::super::functions::*;
use super::levels;

/// The function in f64.
fn plain(function: Function, x: f64) -> f64 {
    match function {
        Function::Exp => x.exp(),
        Function::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Function::Silu if x == f64::NEG_INFINITY => 0.0,
        Function::Silu => x / (1.0 + (-x).exp()),
        Function::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
    }
}

const ALL: [Function; 4] = [Function::Exp, Function::Sigmoid, Function::Silu, Function::Softplus];

#[test]
fn functions_are_within_rounding() {
    let points: Vec<f32> =
        (-120_000..120_000).map(|i| i as f32 * 0.000_91).chain([0.0, -0.0, 1e-20, -1e-20]).collect();
    for simd in levels() {
        for function in ALL {
            let mut values = points.clone();
            apply(simd, function, &mut values);
            for (&x, &got) in points.iter().zip(&values) {
                let want = plain(function, f64::from(x));
                if want > f64::from(f32::MAX) {
                    assert_eq!(got, f32::INFINITY, "{simd:?} {function:?} {x}");
                    continue;
                }
                let error = (f64::from(got) - want).abs();
                // A quotient by a number near the largest loses its last places.
                let least = if function == Function::Exp { 3e-45 } else { 2e-36 };
                assert!(error <= 3e-7 * want.abs() + least, "{simd:?} {function:?} {x}: {got} {want}");
            }
        }
    }
}

#[test]
fn ends_of_the_line_are_exact() {
    let ends = [f32::NEG_INFINITY, -1e30, 1e30, f32::INFINITY, f32::NAN];
    for simd in levels() {
        for (function, want) in [
            (Function::Exp, [0.0, 0.0, f32::INFINITY, f32::INFINITY, f32::NAN]),
            (Function::Sigmoid, [0.0, 0.0, 1.0, 1.0, f32::NAN]),
            (Function::Silu, [0.0, 0.0, 1e30, f32::INFINITY, f32::NAN]),
            (Function::Softplus, [0.0, 0.0, 1e30, f32::INFINITY, f32::NAN]),
        ] {
            let mut values = ends;
            apply(simd, function, &mut values);
            for (got, want) in values.into_iter().zip(want) {
                assert!(got == want || (got.is_nan() && want.is_nan()), "{simd:?} {function:?} {values:?}");
            }
        }
    }
}

#[test]
fn forms_agree_with_each_other() {
    for simd in levels() {
        for length in [0, 1, 15, 16, 17, 100] {
            let from: Vec<f32> = (0..length).map(|i| i as f32 * 0.37 - 9.0).collect();
            for function in ALL {
                let mut values = from.clone();
                apply(simd, function, &mut values);
                let mut to = vec![f32::NAN; length];
                apply_to(simd, function, &from, &mut to);
                assert_eq!(values, to);
                let mut product = vec![3.0; length];
                multiply_by(simd, function, &from, &mut product);
                assert_eq!(product, values.iter().map(|v| v * 3.0).collect::<Vec<_>>());
            }
            let mut shifted = from.clone();
            let sum = exp_and_sum(simd, 2.0, &mut shifted);
            let want: f64 = from.iter().map(|v| (f64::from(*v) - 2.0).exp()).sum();
            assert!((f64::from(sum) - want).abs() <= 1e-6 * want);
            let mut direct: Vec<_> = from.iter().map(|v| v - 2.0).collect();
            apply(simd, Function::Exp, &mut direct);
            assert_eq!(shifted, direct);
        }
    }
}
