use half::f16;

use super::super::vector::*;
use super::{Random, levels};

const LENGTHS: [usize; 12] = [0, 1, 7, 8, 15, 16, 31, 64, 65, 100, 128, 1000];

#[test]
fn sums_are_within_rounding() {
    let mut random = Random(0x5EED_0020);
    for length in LENGTHS {
        let (a, b) = (random.floats(length), random.floats(length));
        let halves: Vec<_> = b.iter().map(|&v| f16::from_f32(v)).collect();
        let pair =
            |f: &dyn Fn(usize) -> f64| (0..length).fold((0.0, 1e-30), |(s, m), i| (s + f(i), m + f(i).abs()));
        let (a64, b64) = (|i: usize| f64::from(a[i]), |i: usize| f64::from(b[i]));
        for simd in levels() {
            for (got, (want, size)) in [
                (dot(simd, &a, &b), pair(&|i| a64(i) * b64(i))),
                (dot_half(simd, &a, &halves), pair(&|i| a64(i) * halves[i].to_f64())),
                (sum_of_squares(simd, &a), pair(&|i| a64(i) * a64(i))),
                (sum(simd, &a), pair(&a64)),
            ] {
                assert!((f64::from(got) - want).abs() <= 1e-6 * size, "{simd:?} {length} {got} {want}");
            }
            assert_eq!(largest(simd, &a), a.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        }
    }
}

#[test]
fn updates_touch_each_element_once() {
    let mut random = Random(0x5EED_0021);
    for length in LENGTHS {
        let (a, b) = (random.floats(length), random.floats(length));
        let halves: Vec<_> = a.iter().map(|&v| f16::from_f32(v)).collect();
        for simd in levels() {
            let check = |update: &dyn Fn(&mut [f32]), want: &dyn Fn(f32, f32, f16) -> f32| {
                let mut to = b.clone();
                update(&mut to);
                for i in 0..length {
                    let want = want(a[i], b[i], halves[i]);
                    assert!((to[i] - want).abs() <= 1e-6, "{simd:?} {length} {i}: {} {want}", to[i]);
                }
            };
            check(&|to| add_scaled(simd, 0.3, &a, to), &|a, b, _| b + 0.3 * a);
            check(&|to| add_scaled_half(simd, 0.3, &halves, to), &|_, b, h| b + 0.3 * h.to_f32());
            check(&|to| add(simd, &a, to), &|a, b, _| b + a);
            check(&|to| multiply(simd, &a, to), &|a, b, _| b * a);
            check(&|to| set_scaled(simd, 0.3, &a, to), &|a, _, _| 0.3 * a);
            check(&|to| scale(simd, 0.3, to), &|_, b, _| 0.3 * b);
            check(&|to| from_half(simd, &halves, to), &|_, _, h| h.to_f32());
            let mut to = vec![f16::ZERO; length];
            to_half(simd, &a, &mut to);
            assert_eq!(to, halves);
        }
    }
}
