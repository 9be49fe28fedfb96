//! Text from a prompt.

use crate::{models, storytellers};
use std::ops::ControlFlow;
use weft::sampling::{Sampler, SamplingParams};
use weft::session::{Finish, GenerateOptions, Session, SessionOptions};
use weft::template::{Message, RenderOptions};
use weft::tokenizer::EncodeOptions;

pub fn prompt(model: &weft::Model) -> Vec<u32> {
    let options = RenderOptions { add_generation_prompt: true, ..RenderOptions::default() };
    let messages = [Message::new("user", "Tell me a story about a shy dragon.")];
    let text = model.template().render(&messages, &options).unwrap();
    model.tokenizer().encode(&text, EncodeOptions { add_special: false, parse_special: true }).unwrap()
}

fn greedy() -> Sampler {
    Sampler::new(SamplingParams { temperature: 0.0, ..SamplingParams::default() }).unwrap()
}

#[test]
fn pieces_join_to_the_text_and_length_stops() {
    for model in storytellers() {
        let mut session = Session::new(&model, SessionOptions::default()).unwrap();
        session.prefill(&prompt(&model)).unwrap();
        let mut pieces = String::new();
        let options = GenerateOptions { max_tokens: 30, ..GenerateOptions::default() };
        let done = session
            .generate(&mut greedy(), &options, |text| {
                pieces.push_str(text);
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!((pieces.as_str(), done.ids.len(), done.finish), (done.text.as_str(), 30, Finish::Length));
        assert!(done.text.starts_with("Once upon a time, there was a shy dragon"), "{}", done.text);
    }
}

#[test]
fn a_stop_string_ends_the_text_before_itself() {
    for model in storytellers() {
        let mut session = Session::new(&model, SessionOptions::default()).unwrap();
        session.prefill(&prompt(&model)).unwrap();
        let options =
            GenerateOptions { stops: vec!["never".to_owned(), "shy dra".to_owned()], ..Default::default() };
        let done = session.generate(&mut greedy(), &options, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((done.text.as_str(), done.finish), ("Once upon a time, there was a ", Finish::Stop(1)));
    }
}

#[test]
fn the_callback_and_a_full_context_end_the_text() {
    for model in models() {
        let ids = prompt(&model);
        let context = ids.len() as u64 + 5;
        let mut session =
            Session::new(&model, SessionOptions { context, ..SessionOptions::default() }).unwrap();
        session.prefill(&ids).unwrap();
        let options = GenerateOptions { ignore_end: true, ..GenerateOptions::default() };
        let done = session.generate(&mut greedy(), &options, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((done.ids.len(), done.finish), (6, Finish::Context));
        session.reset();
        session.prefill(&ids).unwrap();
        let done = session.generate(&mut greedy(), &options, |_| ControlFlow::Break(())).unwrap();
        assert_eq!(done.finish, Finish::Callback);
    }
}

#[test]
fn a_seed_repeats_an_answer() {
    for model in models() {
        let answer = |seed| {
            let mut session = Session::new(&model, SessionOptions::default()).unwrap();
            session.prefill(&prompt(&model)).unwrap();
            let mut sampler =
                Sampler::new(SamplingParams { seed: Some(seed), ..SamplingParams::default() }).unwrap();
            let options = GenerateOptions { max_tokens: 40, ignore_end: true, ..GenerateOptions::default() };
            session.generate(&mut sampler, &options, |_| ControlFlow::Continue(())).unwrap().ids
        };
        assert_eq!(answer(7), answer(7));
        assert_ne!(answer(7), answer(8));
    }
}
