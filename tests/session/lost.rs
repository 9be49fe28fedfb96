//! A device that is lost: a typed error, and the same model on the device opened anew.

use crate::{ids, model};
use std::ops::ControlFlow;
use std::sync::Arc;
use weft::Error;
use weft::sampling::{Sampler, SamplingParams};
use weft::session::{GenerateOptions, SampleOn, Session, SessionOptions};
use weft_core::backend::Backend;
use weft_tests::devices;
use weft_tests::faulty::Faulty;

fn lost_after(submissions: u64) -> Arc<dyn Backend> {
    Faulty::around(devices::cpu(&Default::default())).lost_after(submissions).shared()
}

fn options(sample_on: SampleOn) -> SessionOptions {
    SessionOptions { context: 256, sample_on, ..SessionOptions::default() }
}

fn greedy() -> Sampler {
    Sampler::new(SamplingParams { temperature: 0.0, ..SamplingParams::default() }).unwrap()
}

fn greedy_ids(session: &mut Session) -> Vec<u32> {
    session.prefill(&ids(20)).unwrap();
    let options = GenerateOptions { max_tokens: 12, ignore_end: true, ..GenerateOptions::default() };
    session.generate(&mut greedy(), &options, |_| ControlFlow::Continue(())).unwrap().ids
}

#[test]
fn a_lost_device_is_a_typed_error_and_the_model_goes_on_with_another() {
    for sample_on in [SampleOn::Host, SampleOn::Device] {
        let whole = model(devices::cpu(&Default::default()));
        let want = greedy_ids(&mut Session::new(&whole, options(sample_on)).unwrap());
        // The prompt and four steps.
        let model = model(lost_after(5));
        let mut session = Session::new(&model, options(sample_on)).unwrap();
        session.prefill(&ids(20)).unwrap();
        let mut got = Vec::new();
        let mut next = sampler_of(session.logits());
        let error = loop {
            got.push(next);
            match session.step(next, &mut greedy()) {
                Ok(chosen) => next = chosen.id,
                Err(error) => break error,
            }
        };
        assert!(error.is_lost(), "{error}");
        assert!(got.len() == 4 && want.starts_with(&got), "{got:?} of {want:?}");
        // Nothing is left of the sequence, and the device stays lost.
        assert!(session.tokens().is_empty());
        assert!(session.prefill(&ids(20)).is_err_and(|error| error.is_lost()));
        let fresh = Session::new(&model, options(sample_on)).and_then(|mut s| s.prefill(&[1]).map(|_| ()));
        assert!(fresh.is_err_and(|error| error.is_lost()));
        // The device opened anew.
        let again = model.on(vec![devices::cpu(&Default::default())]);
        drop(model);
        let mut renewed = Session::new(&again, session.options().clone()).unwrap();
        drop(session);
        assert_eq!(greedy_ids(&mut renewed), want);
    }
}

fn sampler_of(logits: &[f32]) -> u32 {
    greedy().sample(logits).unwrap()
}

#[test]
fn a_device_lost_between_run_and_reading_leaves_an_empty_session() {
    let model = model(lost_after(2));
    let mut session = Session::new(&model, options(SampleOn::Host)).unwrap();
    session.prefill(&ids(20)).unwrap();
    // This run succeeds; its logits cannot be fetched.
    let error = session.decode(7).unwrap_err();
    assert!(error.is_lost() && session.tokens().is_empty(), "{error}");
}

#[test]
fn other_failures_are_no_losses() {
    let model = model(devices::cpu(&Default::default()));
    let mut session = Session::new(&model, options(SampleOn::Host)).unwrap();
    assert!(matches!(session.prefill(&[]), Err(error @ Error::EmptyPrompt) if !error.is_lost()));
}
