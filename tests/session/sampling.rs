//! Tokens sampled on a device and on the host.

use crate::generate::prompt;
use crate::{ids, model, models};
use std::ops::ControlFlow;
use std::sync::Arc;
use weft::Model;
use weft::sampling::{Sampler, SamplingParams};
use weft::session::{GenerateOptions, SampleOn, Session, SessionOptions};
use weft_core::backend::Backend;
use weft_tests::devices;
use weft_tests::faulty::Faulty;

fn session(model: &Arc<Model>, sample_on: SampleOn) -> Session {
    Session::new(model, SessionOptions { context: 512, sample_on, ..SessionOptions::default() }).unwrap()
}

fn greedy() -> SamplingParams {
    SamplingParams { temperature: 0.0, ..SamplingParams::default() }
}

fn plain(seed: u64) -> SamplingParams {
    SamplingParams { top_k: 40, top_p: 1.0, min_p: 0.0, seed: Some(seed), ..SamplingParams::default() }
}

fn answer(session: &mut Session, params: SamplingParams, tokens: u64) -> Vec<u32> {
    session.reset();
    session.prefill(&prompt(&Arc::clone(session.model()))).unwrap();
    let options = GenerateOptions { max_tokens: tokens, ignore_end: true, ..GenerateOptions::default() };
    let mut sampler = Sampler::new(params).unwrap();
    session.generate(&mut sampler, &options, |_| ControlFlow::Continue(())).unwrap().ids
}

/// The CPU that would rather sample or not, and how many bytes its programs have read back.
fn counting(prefers: bool) -> (Arc<dyn Backend>, impl Fn() -> u64) {
    let device = Faulty::around(devices::cpu(&Default::default())).preferring_device_sampling(prefers);
    let read_back = device.read_back();
    (device.shared(), read_back)
}

#[test]
fn greedy_answers_are_the_same_wherever_they_are_sampled() {
    for model in models() {
        let want = answer(&mut session(&model, SampleOn::Host), greedy(), 60);
        for sample_on in [SampleOn::Device, SampleOn::Auto] {
            assert_eq!(answer(&mut session(&model, sample_on), greedy(), 60), want, "{sample_on:?}");
        }
    }
}

#[test]
fn a_seed_repeats_draws_of_a_device_and_another_does_not() {
    for model in models() {
        let mut one = session(&model, SampleOn::Device);
        let want = answer(&mut one, plain(7), 50);
        assert_eq!(answer(&mut one, plain(7), 50), want, "in the same session");
        assert_eq!(answer(&mut session(&model, SampleOn::Device), plain(7), 50), want, "in another one");
        assert_ne!(answer(&mut one, plain(8), 50), want);
        assert_ne!(answer(&mut one, plain(7 + (1 << 32)), 50), want);
    }
}

#[test]
fn a_device_that_prefers_it_samples_and_only_ids_come_back() {
    let vocabulary = 4 * 8192;
    for (prefers, sample_on, params, a_step) in [
        (true, SampleOn::Auto, greedy(), 8),
        (true, SampleOn::Auto, plain(1), 8),
        (true, SampleOn::Host, plain(1), vocabulary),
        (true, SampleOn::Auto, SamplingParams { top_p: 0.9, ..plain(1) }, vocabulary),
        (true, SampleOn::Device, SamplingParams { repeat_penalty: 1.1, ..plain(1) }, vocabulary),
        (false, SampleOn::Auto, plain(1), vocabulary),
        (false, SampleOn::Device, plain(1), 8),
    ] {
        let (device, read_back) = counting(prefers);
        let mut session = session(&model(device), sample_on);
        let ids = answer(&mut session, params.clone(), 20);
        assert_eq!(ids.len(), 20);
        // The logits behind the prompt, then a few bytes or all logits for each step.
        assert_eq!(read_back(), vocabulary + 20 * a_step, "{prefers} {sample_on:?} {params:?}");
    }
}

#[test]
fn a_device_without_the_kernel_leaves_it_to_the_host() {
    let without = Faulty::around(devices::cpu(&Default::default()))
        .without(|offer| offer.contract.kernel == "sample")
        .preferring_device_sampling(true)
        .named("other")
        .shared();
    let both = model(devices::cpu(&Default::default())).on(vec![without, devices::cpu(&Default::default())]);
    let want = answer(&mut session(&both, SampleOn::Host), greedy(), 20);
    let mut auto = session(&both, SampleOn::Auto);
    assert_eq!(answer(&mut auto, greedy(), 20), want);
    assert!(!auto.logits().is_empty(), "the host sampled");
    // Asked for all the same, the next device does it.
    assert_eq!(answer(&mut session(&both, SampleOn::Device), greedy(), 20), want);
}

#[test]
fn a_step_gives_the_next_token_with_its_log_probability_and_logits_can_be_fetched() {
    for model in models() {
        let (mut host, mut device) = (session(&model, SampleOn::Host), session(&model, SampleOn::Device));
        host.prefill(&ids(30)).unwrap();
        device.prefill(&ids(30)).unwrap();
        let mut sampler = Sampler::new(plain(3)).unwrap();
        let mut id = 5;
        for _ in 0..10 {
            let chosen = device.step(id, &mut sampler).unwrap();
            assert!(device.logits().is_empty());
            let want = host.decode(id).unwrap();
            let largest = want.iter().copied().fold(f32::MIN, f32::max);
            let sum: f64 = want.iter().map(|l| f64::from(l - largest).exp()).sum();
            let log = f64::from(want[chosen.id as usize] - largest) - sum.ln();
            assert!((f64::from(chosen.log_probability.unwrap()) - log).abs() < 1e-3);
            assert_eq!(device.fetch_logits().unwrap(), want);
            assert_eq!(device.logits(), want);
            id = chosen.id;
        }
        assert_eq!(host.step(id, &mut sampler).unwrap().log_probability, None);
        assert_eq!(device.tokens()[..40], host.tokens()[..40]);
    }
}

#[test]
fn an_answer_goes_on_where_the_last_one_ended() {
    for model in models() {
        let whole = answer(&mut session(&model, SampleOn::Device), greedy(), 30);
        let mut parts = session(&model, SampleOn::Device);
        let mut got = answer(&mut parts, greedy(), 10);
        let mut sampler = Sampler::new(greedy()).unwrap();
        let options = GenerateOptions { max_tokens: 20, ignore_end: true, ..GenerateOptions::default() };
        got.extend(parts.generate(&mut sampler, &options, |_| ControlFlow::Continue(())).unwrap().ids);
        assert_eq!(got, whole);
    }
}

#[test]
fn ids_that_only_fill_up_the_matrix_are_never_drawn() {
    for model in models() {
        let limited = SamplingParams { valid_ids: Some(300), temperature: 5.0, ..plain(1) };
        let ids = answer(&mut session(&model, SampleOn::Device), limited, 60);
        assert!(ids.iter().all(|id| *id < 300), "{ids:?}");
    }
}
