//! The whole chain.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Instant;

use super::random::Random;
use super::{Sampler, SamplingError, SamplingParams};

/// No filter, temperature 1, a fixed seed.
fn plain() -> SamplingParams {
    SamplingParams {
        top_k: 0,
        top_p: 1.0,
        min_p: 0.0,
        temperature: 1.0,
        seed: Some(1),
        ..SamplingParams::default()
    }
}

fn greedy() -> SamplingParams {
    SamplingParams { temperature: 0.0, ..SamplingParams::default() }
}

fn sampler(params: SamplingParams) -> Sampler {
    Sampler::new(params).unwrap()
}

fn logits(probabilities: &[f32]) -> Vec<f32> {
    probabilities.iter().map(|p| p.ln()).collect()
}

#[test]
fn greedy_takes_the_first_of_the_largest() {
    for temperature in [0.0, -1.0] {
        let mut sampler = sampler(SamplingParams { temperature, ..SamplingParams::default() });
        assert_eq!(sampler.sample(&[1.0, 3.0, 3.0, 2.0]), Ok(1));
        assert_eq!(sampler.sample(&[-1.0, f32::NEG_INFINITY, -0.5]), Ok(2));
        assert_eq!(sampler.sample(&[0.0, 0.0]), Ok(0));
        let only = sampler.distribution(&[1.0, 3.0, 3.0]).unwrap();
        assert_eq!((only.len(), only[0].id, only[0].probability), (1, 1, 1.0));
    }
}

#[test]
fn greedy_sees_bias_and_penalties() {
    let params = SamplingParams { logit_bias: vec![(0, 5.0), (1, f32::NEG_INFINITY)], ..greedy() };
    assert_eq!(sampler(params).sample(&[1.0, 9.0, 3.0]), Ok(0));
    let mut repeat = sampler(SamplingParams { repeat_penalty: 4.0, ..greedy() });
    assert_eq!(repeat.sample(&[8.0, 3.0]), Ok(0));
    repeat.accept(0);
    assert_eq!(repeat.sample(&[8.0, 3.0]), Ok(1));
    repeat.reset();
    assert_eq!(repeat.sample(&[8.0, 3.0]), Ok(0));
}

#[test]
fn broken_logits_are_an_error_naming_the_first() {
    for params in [greedy(), plain(), SamplingParams::default()] {
        let mut sampler = sampler(params);
        let nan = sampler.sample(&[0.0, 1.0, f32::NAN, f32::NAN]);
        assert!(matches!(nan, Err(SamplingError::NotFinite { index: 2, value }) if value.is_nan()));
        let infinite = SamplingError::NotFinite { index: 1, value: f32::INFINITY };
        assert_eq!(sampler.sample(&[0.0, f32::INFINITY, f32::NAN]), Err(infinite));
        let excluded = SamplingError::AllExcluded { count: 3 };
        assert_eq!(sampler.sample(&[f32::NEG_INFINITY; 3]), Err(excluded));
        assert_eq!(sampler.sample(&[]), Err(SamplingError::Empty));
        assert_eq!(sampler.sample(&[f32::NEG_INFINITY, -3.0]), Ok(1));
    }
}

#[test]
fn ids_that_are_not_valid_are_never_sampled_or_looked_at() {
    for params in [greedy(), plain(), SamplingParams::default()] {
        let mut sampler = sampler(SamplingParams { valid_ids: Some(2), ..params });
        for _ in 0..100 {
            assert!(sampler.sample(&[0.0, 1.0, 50.0, f32::NAN]).unwrap() < 2);
        }
        assert_eq!(sampler.sample(&[1.0]), Ok(0));
    }
}

#[test]
fn a_bias_beyond_the_logits_is_an_error() {
    let mut sampler = sampler(SamplingParams { logit_bias: vec![(7, 1.0)], ..plain() });
    assert_eq!(sampler.sample(&[0.0; 5]), Err(SamplingError::BiasedToken { id: 7, valid_ids: 5 }));
}

#[test]
fn extreme_numbers_do_not_break_the_draw() {
    let mut odd = plain();
    odd.logit_bias = vec![(0, f32::MAX), (1, f32::MIN)];
    (odd.frequency_penalty, odd.presence_penalty) = (f32::MIN, f32::MIN);
    let mut sampler = sampler(odd);
    for id in [0, 0, 1, 2, 2] {
        sampler.accept(id);
    }
    for logits in [[f32::MAX, f32::MIN, f32::NEG_INFINITY], [0.0, f32::MAX, f32::NEG_INFINITY]] {
        let sum: f64 = sampler.distribution(&logits).unwrap().iter().map(|one| one.probability).sum();
        assert!((sum - 1.0).abs() < 1e-9);
        assert!(sampler.sample(&logits).unwrap() < 2);
    }
}

#[test]
fn filters_see_the_distribution_before_temperature() {
    // At temperature 4 the nucleus of 0.6 would hold three tokens; before it, it holds one.
    let params = SamplingParams { top_p: 0.6, temperature: 4.0, ..plain() };
    let mut sampler = sampler(params);
    let kept = sampler.distribution(&logits(&[0.2, 0.7, 0.1])).unwrap();
    assert_eq!((kept.len(), kept[0].id), (1, 1));
}

#[test]
fn the_chain_gives_the_distribution_computed_by_hand() {
    // top-k 4 drops 0.05; top-p 0.85 of the rest (0.421, 0.316, 0.158, 0.105) keeps three; min-p 0.5 keeps 0.4 and 0.3;
    // temperature 0.5 squares: 0.16 and 0.09 of 0.25.
    let params = SamplingParams { top_k: 4, top_p: 0.85, min_p: 0.5, temperature: 0.5, ..plain() };
    let mut sampler = sampler(params);
    let kept = sampler.distribution(&logits(&[0.05, 0.3, 0.1, 0.4, 0.15])).unwrap();
    let ids: Vec<u32> = kept.iter().map(|one| one.id).collect();
    assert_eq!(ids, [3, 1]);
    assert!((kept[0].probability - 0.64).abs() < 1e-6 && (kept[1].probability - 0.36).abs() < 1e-6);
}

#[test]
fn draws_follow_the_distribution() {
    let weights = [0.4, 0.3, 0.15, 0.1, 0.05];
    let mut sampler = sampler(plain());
    let logits = logits(&weights);
    let (draws, mut counts) = (50_000, [0u32; 5]);
    for _ in 0..draws {
        counts[sampler.sample(&logits).unwrap() as usize] += 1;
    }
    let expected = weights.map(|weight| f64::from(weight) * f64::from(draws));
    let chi_square: f64 = counts
        .iter()
        .zip(expected)
        .map(|(count, wanted)| (f64::from(*count) - wanted).powi(2) / wanted)
        .sum();
    // The 99.9 % point for 4 degrees of freedom.
    assert!(chi_square < 18.5, "{chi_square}: {counts:?}");
}

#[test]
fn a_seed_repeats_a_run_and_none_is_reported() {
    let logits: Vec<f32> = (0..1000).map(|id| (id % 17) as f32 / 4.0).collect();
    let run = |params: &SamplingParams| {
        let mut sampler = sampler(params.clone());
        let ids: Vec<u32> = (0..50).map(|_| sampler.sample(&logits).unwrap()).collect();
        (sampler.seed(), ids)
    };
    let (seed, ids) = run(&SamplingParams { seed: None, ..plain() });
    assert_eq!(run(&SamplingParams { seed: Some(seed), ..plain() }), (seed, ids.clone()));
    assert_ne!(run(&SamplingParams { seed: None, ..plain() }).1, ids);
    // The stream belongs to the contract: a change of it would change every seeded run.
    assert_eq!(
        run(&SamplingParams { seed: Some(42), ..plain() }).1[..8],
        [288, 806, 870, 863, 407, 746, 862, 356]
    );
}

#[test]
fn a_large_vocabulary_is_quick() {
    let mut random = Random::new(9);
    let logits: Vec<f32> = (0..248_320).map(|_| (random.uniform() * 24.0 - 12.0) as f32).collect();
    let cases = [
        ("default", SamplingParams::default()),
        ("greedy", greedy()),
        ("penalties", SamplingParams { repeat_penalty: 1.1, ..SamplingParams::default() }),
        ("top-p of all", SamplingParams { top_k: 0, ..SamplingParams::default() }),
        ("no filter", plain()),
    ];
    for (name, params) in cases {
        let mut sampler = sampler(SamplingParams { valid_ids: Some(248_077), ..params });
        sampler.sample(&logits).unwrap();
        let start = Instant::now();
        for _ in 0..20 {
            let id = sampler.sample(&logits).unwrap();
            sampler.accept(id);
        }
        println!("{name}: {:?} a token", start.elapsed() / 20);
    }
}
