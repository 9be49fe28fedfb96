//! Several turns. What was processed is kept where the next prompt begins with it.
//!
//! `cargo run --release -p weft --example chat -- MODEL.gguf < questions.txt`

use std::io::BufRead;
use std::ops::ControlFlow;
use weft::sampling::{Sampler, SamplingParams};
use weft::session::{GenerateOptions, Session, SessionOptions};
use weft::template::{Message, RenderOptions};
use weft::tokenizer::EncodeOptions;
use weft::{Error, Model, backends};

fn main() -> Result<(), Error> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "models/weft-tales-12m.Q8_0.gguf".to_owned());
    let model = Model::open(file, backends::open("auto", &Default::default())?)?;
    let mut session = Session::new(&model, SessionOptions::default())?;
    let mut sampler = Sampler::new(SamplingParams::default())?;
    let mut messages = Vec::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        messages.push(Message::new("user", line));
        let options = RenderOptions { add_generation_prompt: true, ..RenderOptions::default() };
        let text = model.template().render(&messages, &options)?;
        let ids =
            model.tokenizer().encode(&text, EncodeOptions { add_special: false, parse_special: true })?;
        session.reset_timings();
        session.prefill_to(&ids)?;
        let options = GenerateOptions { max_tokens: 60, ..GenerateOptions::default() };
        let answer = session.generate(&mut sampler, &options, |_| ControlFlow::Continue(()))?;
        println!(
            "{}\n[{} of {} prompt tokens were new]",
            answer.text,
            session.timings().prompt_tokens,
            ids.len()
        );
        messages.push(Message::new("assistant", answer.text));
    }
    Ok(())
}
