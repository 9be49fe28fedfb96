use super::super::{ActivationBlock, quantise};
use super::{Random, levels};

#[test]
fn rounding_is_to_the_nearest_of_255_steps() {
    let mut random = Random(0x5EED_0010);
    let mut values = random.floats(32 * 9);
    values[32..64].fill(0.0);
    values[64..96].iter_mut().for_each(|v| *v *= 1e-35);
    values[96..128].iter_mut().for_each(|v| *v *= 1e30);
    for simd in levels() {
        let mut blocks = [ActivationBlock::default(); 9];
        quantise(simd, &values, &mut blocks);
        for (values, block) in values.chunks_exact(32).zip(&blocks) {
            let half_step = f64::from(block.scale) * 0.5001 + 1e-30;
            for (&value, &rounded) in values.iter().zip(&block.values) {
                assert!((f64::from(value) - f64::from(block.scale) * f64::from(rounded)).abs() <= half_step);
                assert!((-127..=127).contains(&rounded));
            }
            let sum = |part: &[i8]| part.iter().map(|&v| i32::from(v)).sum::<i32>();
            let halves = [sum(&block.values[..16]), sum(&block.values[16..])];
            let whole = halves[0] + halves[1];
            assert_eq!(block.minus_128_sums, [-128 * whole, -128 * halves[0], -128 * halves[1]]);
            assert_eq!(block.scaled_sum, block.scale * whole as f32);
        }
    }
}

#[test]
fn levels_round_alike() {
    let values = Random(0x5EED_0011).floats(32 * 50);
    let all: Vec<_> = levels()
        .into_iter()
        .map(|simd| {
            let mut blocks = [ActivationBlock::default(); 50];
            quantise(simd, &values, &mut blocks);
            blocks
        })
        .collect();
    assert!(all.iter().all(|blocks| *blocks == all[0]));
}
