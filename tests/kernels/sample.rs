//! `sample`: ids exactly, log-probabilities within rounding. Rows whose two best scores are nearer than [`MARGIN`] are drawn
//! anew: there rounding may decide, and devices may differ.

use crate::check::{draw_case, offers};
use crate::data::Bench;
use crate::subject::{Subject, Values, values};
use crate::{dispatch, machines};
use std::sync::Arc;
use weft::sampling::{Sampler, SamplingParams};
use weft_core::contract::draw::Wish;
use weft_core::driver::Options;
use weft_core::graph::{DType, GraphBuilder, Op};
use weft_core::kernels::sample::{Draw, WORDS, choose, hash};
use weft_tests::run::{self, Data};
use weft_tests::{Random, devices};

/// A hundred times the rounding of scores in f32.
const MARGIN: f64 = 1e-3;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, random| {
        let shape = case.draft.shape("logits");
        let draws: Vec<Draw> = (0..shape[1]).map(|_| draw(shape[0], random)).collect();
        values([("logits", logits(shape[1], random)), ("params", words(draws))])
    },
    float_words: &[("out", 1)],
    decisive: |ports| {
        let draws = ports[1].as_chunks::<4>().0.as_chunks::<WORDS>().0;
        let draws = draws.iter().map(|words| Draw::from_words(words.map(i32::from_le_bytes)));
        let width = ports[0].len() / 4 / draws.len().max(1);
        let rows: Vec<f64> = run::floats(&ports[0]).into_iter().map(f64::from).collect();
        draws.enumerate().all(|(row, draw)| {
            let choice = choose(&rows[row * width..(row + 1) * width], &draw);
            choice.is_none_or(|choice| choice.margin > MARGIN)
        })
    },
    ..Subject::new("sample")
};

fn draw(vocabulary: u64, random: &mut Random) -> Draw {
    Draw {
        temperature: random.pick(&[0.0, -1.0, f32::NAN, 0.01, 0.3, 0.8, 1.0, 1.0, 2.5, 30.0, f32::INFINITY]),
        top_k: random.pick(&[0, 0, 1, 2, 5, 40, 63, 64, 65, u32::MAX]),
        seed: random.next() >> random.pick(&[0, 32, 60]),
        counter: random.next() as u32 >> random.pick(&[0, 28]),
        limit: if random.below(3) == 0 { random.below(vocabulary + 3) as u32 } else { 0 },
    }
}

fn words(draws: Vec<Draw>) -> Values {
    Box::new(move |[word, row, ..], random| match word {
        // What the last two hold means nothing.
        6 | 7 => random.below(1000) as f64,
        _ => f64::from(draws[row as usize].words()[word as usize]),
    })
}

/// Rows of numbers, of few numbers with ties, of numbers between others that are none, and of none.
fn logits(rows: u64, random: &mut Random) -> Values {
    let kinds: Vec<u64> = (0..rows).map(|_| random.below(16)).collect();
    Box::new(move |[_, row, ..], random| {
        let number = 8.0 * f64::from(random.unit());
        match kinds[row as usize] {
            0 => f64::NAN,
            1..5 => number.round(),
            5..8 if random.below(3) == 0 => random.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]),
            _ => number,
        }
    })
}

#[test]
fn equals_its_reference() {
    SUBJECT.equals_its_reference();
}

#[test]
fn declines_one_step_outside() {
    SUBJECT.declines_one_step_outside();
}

#[test]
fn falls_back_to_a_variant_that_admits_it() {
    SUBJECT.falls_back();
}

#[test]
fn a_wrong_id_or_log_probability_is_noticed() {
    let (machine, mut tried) = (&machines::all()[0], 0);
    for seed in 0..100 {
        let mut random = Random::named("wrong", seed);
        let contract = &SUBJECT.reference().contract;
        let Some(case) = draw_case(&SUBJECT, contract, &Wish::default(), 1 << 12, &mut random) else {
            continue;
        };
        let bench = Bench::new(&SUBJECT, case, &mut random).unwrap();
        let (at, out) = (contract.port("out").unwrap(), bench.case.layout("out").unwrap());
        if out.is_empty() {
            continue;
        }
        let offer = offers(&SUBJECT, machine).last().unwrap();
        let after = dispatch::run(&*machine.backend, offer, &bench.case, &bench.storages).unwrap();
        assert_eq!(bench.compare(&after, contract.tolerance), Ok(()));
        // The id's last bit, and a bit of the log-probability worth a thousandth.
        for (word, byte, bit) in [(0, 0, 1), (1, 1, 0x80)] {
            let mut wrong = after.clone();
            wrong[at][(out.offset + word * out.strides[0]) as usize + byte] ^= bit;
            tried += usize::from(bench.compare(&wrong, contract.tolerance).is_err());
        }
    }
    // A log-probability near zero is only near in absolute terms.
    assert!(tried > 120, "{tried}");
}

fn id(row: &[f64], draw: Draw) -> Option<u32> {
    choose(row, &draw).map(|choice| choice.id)
}

#[test]
fn greedy_takes_the_first_of_the_largest_and_nothing_that_is_no_number() {
    let greedy = Draw::default();
    let nan = f64::NAN;
    assert_eq!(id(&[nan, 1.0, 3.0, f64::INFINITY, 3.0, f64::NEG_INFINITY], greedy), Some(2));
    assert_eq!(id(&[nan, f64::INFINITY, f64::NEG_INFINITY], greedy), None);
    assert_eq!(id(&[], greedy), None);
    assert_eq!(id(&[1.0, 2.0, 3.0], Draw { limit: 2, ..greedy }), Some(1));
    assert_eq!(id(&[1.0, 2.0, 3.0], Draw { limit: 9, ..greedy }), Some(2));
    assert_eq!(id(&[nan, nan, 3.0], Draw { limit: 2, temperature: 1.0, ..greedy }), None);
    for temperature in [-1.0, f32::NAN, f32::MIN_POSITIVE / 2.0] {
        assert_eq!(id(&[0.0, 0.1, 0.1], Draw { temperature, seed: 3, ..greedy }), Some(1));
    }
    let chosen = choose(&[0.0, 3.0f64.ln(), nan, f64::INFINITY], &greedy).unwrap();
    assert!((chosen.log_probability - 0.75f64.ln()).abs() < 1e-12);
}

#[test]
fn candidates_are_the_largest_and_of_equal_ones_the_first() {
    let row = [1.0, 5.0, 4.0, 5.0, 4.0, 4.0, f64::NAN];
    for (top_k, allowed) in
        [(1, &[1][..]), (2, &[1, 3]), (3, &[1, 2, 3]), (4, &[1, 2, 3, 4]), (0, &[0, 1, 2, 3, 4, 5])]
    {
        let mut seen: Vec<u32> = (0..400)
            .map(|counter| id(&row, Draw { temperature: 5.0, top_k, seed: 1, counter, limit: 0 }).unwrap())
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, allowed, "top {top_k}");
    }
    // More than the most counts as the most.
    let row: Vec<f64> = (0..200).map(|i| f64::from(i) / 1e3).collect();
    for top_k in [64, 65, 1000, u32::MAX] {
        let draws = (0..2000).map(|counter| Draw { temperature: 10.0, top_k, seed: 1, counter, limit: 0 });
        assert_eq!(draws.map(|draw| id(&row, draw).unwrap()).min(), Some(136));
    }
}

#[test]
fn words_and_draws_are_the_same() {
    let mut random = Random::named("words", 0);
    for _ in 0..100 {
        let words = draw(100, &mut random).words();
        assert_eq!(Draw::from_words(words).words(), words);
    }
    let draw = Draw { temperature: 1.0, top_k: 2, seed: 0x4_0000_0003, counter: 5, limit: 6 };
    assert_eq!(draw.words(), [0x3f80_0000, 2, 3, 4, 5, 6, 0, 0]);
}

/// These fix the hash: other implementations must give the same.
#[test]
fn the_hash_is_as_published() {
    let known = [
        ([0, 0, 0, 0], 0xd325_48ea),
        ([1, 0, 0, 0], 0x623d_099e),
        ([0, 0, 0, 1], 0x58ab_6650),
        ([1, 2, 3, 4], 0x02b9_4c2f),
        ([0xdead_beef, 0x1234_5678, 1000, 248_319], 0x2a13_c49e),
        ([u32::MAX; 4], 0xa1bb_a208),
    ];
    for (key, want) in known {
        assert_eq!(hash(key), want, "{key:?}");
    }
}

/// The noise as devices compute it.
fn gumbel_in_f32(draw: &Draw, index: u32) -> f32 {
    let bits = hash([draw.seed as u32, (draw.seed >> 32) as u32, draw.counter, index]);
    let u = ((bits >> 9) as f32 + 0.5) * (0.5f32).powi(23);
    let minus_log = if u < 0.5 {
        -u.ln()
    } else {
        let w = 1.0 - u;
        let s = w / (2.0 - w);
        let q = s * s;
        let tail = 1.0 / 3.0 + q * (0.2 + q * (1.0 / 7.0 + q * (1.0 / 9.0 + q * (1.0 / 11.0 + q / 13.0))));
        2.0 * (s + s * q * tail)
    };
    -minus_log.ln()
}

#[test]
fn noise_in_f32_is_near_the_reference() {
    let mut worst = 0.0f64;
    for counter in 0..20 {
        let draw = Draw { seed: 11, counter, ..Draw::default() };
        for index in 0..50_000 {
            worst = worst.max((f64::from(gumbel_in_f32(&draw, index)) - draw.gumbel(index)).abs());
        }
    }
    assert!(worst < 3e-6, "{worst}");
}

/// Chi-squared of counts against probabilities.
fn chi_squared(counts: &[u32], probabilities: &[f64]) -> f64 {
    let total = f64::from(counts.iter().sum::<u32>());
    let term = |(count, p): (&u32, &f64)| (f64::from(*count) - total * p).powi(2) / (total * p);
    counts.iter().zip(probabilities).map(term).sum()
}

#[test]
fn draws_are_distributed_as_the_host_sampler_says() {
    let logits: Vec<f32> = vec![0.3, 2.0, -1.0, 1.5, 1.4, -0.5, 0.0, 2.2, 0.9, -2.0];
    let row: Vec<f64> = logits.iter().copied().map(f64::from).collect();
    for (temperature, top_k) in [(1.0, 0), (0.7, 5), (1.6, 8), (0.4, 10)] {
        let params = SamplingParams { temperature, top_k, top_p: 1.0, min_p: 0.0, ..Default::default() };
        let mut sampler = Sampler::new(params).unwrap();
        let mut wanted = vec![0.0; logits.len()];
        sampler.distribution(&logits).unwrap().iter().for_each(|c| wanted[c.id as usize] = c.probability);
        // Draws of one seed, first draws of many seeds, and of seeds that differ in their high words.
        let sequences: [fn(u32) -> (u64, u32); 3] =
            [|i| (42, i), |i| (u64::from(i), 0), |i| (u64::from(i) << 32 | 7, 3)];
        for (number, sequence) in sequences.iter().enumerate() {
            let mut counts = vec![0u32; logits.len()];
            for i in 0..40_000 {
                let (seed, counter) = sequence(i);
                let drawn = id(&row, Draw { temperature, top_k, seed, counter, limit: 0 }).unwrap();
                counts[drawn as usize] += 1;
            }
            assert!(counts.iter().zip(&wanted).all(|(count, p)| *p > 0.0 || *count == 0));
            let pairs: (Vec<u32>, Vec<f64>) =
                counts.iter().copied().zip(wanted.iter().copied()).filter(|(_, p)| *p > 0.0).unzip();
            let chi = chi_squared(&pairs.0, &pairs.1);
            // The 99.9 % point for 9 degrees of freedom, more than for fewer.
            assert!(chi < 27.9, "{temperature} {top_k} {number}: {chi}");
        }
    }
}

#[test]
fn large_vocabularies_are_drawn_alike_on_every_device() {
    const VOCABULARY: usize = 30_000;
    let draws = [(0.0, 0), (0.8, 40), (1.0, 64), (1.3, 0), (0.5, 1)];
    let mut b = GraphBuilder::new();
    let rows = draws.len() as u64;
    let logits = b.input("logits", DType::F32, &[VOCABULARY as u64, rows]).unwrap();
    let params = b.input("params", DType::I32, &[WORDS as u64, rows]).unwrap();
    let out = b.op(Op::Sample, &[logits, params]).unwrap();
    b.output("out", out).unwrap();
    let graph = Arc::new(b.finish().unwrap());
    let mut random = Random::named("large vocabularies", 0);
    let mut checked = 0;
    for counter in 0..8 {
        let floats: Vec<f32> = (0..VOCABULARY * draws.len()).map(|_| 12.0 * random.unit()).collect();
        let draws = draws.map(|(temperature, top_k)| Draw { temperature, top_k, seed: 5, counter, limit: 0 });
        let words: Vec<i32> = draws.iter().flat_map(Draw::words).collect();
        let data = Data::from([
            ("logits".to_owned(), run::bytes(&floats)),
            ("params".to_owned(), run::int_bytes(&words)),
        ]);
        for backend in devices::found() {
            let name = backend.name().to_owned();
            let outcome = run::run(&graph, &[backend], &Options::default(), &data).unwrap();
            let results = outcome.outputs["out"].as_chunks::<4>().0.as_chunks::<2>().0;
            for ((row, draw), [id, log]) in floats.chunks(VOCABULARY).zip(draws).zip(results) {
                let row: Vec<f64> = row.iter().copied().map(f64::from).collect();
                let want = choose(&row, &draw).unwrap();
                if want.margin > MARGIN {
                    assert_eq!(i32::from_le_bytes(*id), want.id as i32, "{name} {draw:?}");
                    let off = f64::from(f32::from_le_bytes(*log)) - want.log_probability;
                    assert!(off.abs() < 1e-4, "{name} {draw:?}: {off}");
                    checked += 1;
                }
            }
        }
    }
    assert!(checked >= 38, "{checked}");
}
