//! What a session refuses, and how it stops.

use crate::{ids, models, storytellers, vocabulary};
use std::time::{Duration, Instant};
use weft::Error;
use weft::session::{Session, SessionOptions};

fn session(model: &std::sync::Arc<weft::Model>, context: u64) -> Session {
    Session::new(model, SessionOptions { context, ..SessionOptions::default() }).unwrap()
}

#[test]
fn refuses_empty_prompts_unknown_tokens_and_overlong_prompts() {
    for model in models() {
        let mut session = session(&model, 16);
        assert!(matches!(session.prefill(&[]), Err(Error::EmptyPrompt)));
        let limit = vocabulary(&model);
        let error = session.prefill(&[1, limit as u32]);
        assert!(
            matches!(error, Err(Error::Token { id, limit: told }) if u64::from(id) == limit && told == limit)
        );
        assert!(matches!(session.prefill(&ids(17)), Err(Error::Context { asked: 17, context: 16 })));
        session.prefill(&ids(16)).unwrap();
        assert!(matches!(session.decode(5), Err(Error::Context { asked: 17, context: 16 })));
    }
}

#[test]
fn refuses_a_context_that_memory_cannot_hold() {
    for model in models() {
        let options = SessionOptions { context: 1 << 32, ..SessionOptions::default() };
        assert!(matches!(Session::new(&model, options), Err(Error::Memory { .. })));
    }
}

#[test]
fn refuses_options_out_of_range() {
    for model in models() {
        let options = SessionOptions { ubatch: 0, ..SessionOptions::default() };
        assert!(matches!(Session::new(&model, options), Err(Error::Option { name: "ubatch", .. })));
        let options =
            SessionOptions { cache: weft_core::graph::DType::Q4_K.into(), ..SessionOptions::default() };
        assert!(matches!(Session::new(&model, options), Err(Error::Option { name: "cache", .. })));
    }
}

#[test]
fn cancels_inside_a_prompt_and_goes_on_afterwards() {
    for model in storytellers() {
        let prompt = ids(4000);
        let mut session = session(&model, 4096);
        let want = session.prefill(&ids(20)).unwrap().to_vec();
        session.reset();
        let cancel = session.cancel_handle();
        let from_outside = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            let asked = Instant::now();
            cancel.cancel();
            asked
        });
        let outcome = session.prefill(&prompt);
        assert!(matches!(outcome, Err(Error::Cancelled { .. })), "{:?}", outcome.err());
        from_outside.join().unwrap();
        session.reset();
        assert_eq!(session.prefill(&ids(20)).unwrap(), want, "the session is as good as new");
    }
}

#[test]
fn a_sequence_that_goes_on_is_not_processed_again() {
    for model in models() {
        let all = ids(60);
        let mut whole = session(&model, 128);
        let want = whole.prefill(&all).unwrap().to_vec();
        let mut parts = session(&model, 128);
        parts.prefill(&all[..35]).unwrap();
        parts.reset_timings();
        let got = parts.prefill_to(&all).unwrap().to_vec();
        assert_eq!(parts.timings().prompt_tokens, 25);
        let off = want.iter().zip(&got).map(|(a, b)| (a - b).abs()).fold(0.0f32, f32::max);
        assert!(off < 0.5, "8-bit rounding is by ubatch-independent blocks: {off}");
        // Another beginning starts over.
        parts.prefill_to(&ids(80)[20..]).unwrap();
        assert_eq!(parts.tokens(), &ids(80)[20..]);
    }
}

#[test]
fn a_session_may_move_to_another_thread_and_a_model_may_be_shared() {
    fn moves<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    moves::<Session>();
    shared::<weft::Model>();
}
