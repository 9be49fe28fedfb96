//! One prompt, one answer.
//!
//! `cargo run --release -p weft --example one_shot -- MODEL.gguf "Tell me a story about a shy dragon."`

use std::ops::ControlFlow;
use weft::sampling::{Sampler, SamplingParams};
use weft::session::{GenerateOptions, Session, SessionOptions};
use weft::template::{Message, RenderOptions};
use weft::tokenizer::EncodeOptions;
use weft::{Error, Model, backends};

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap_or_else(|| "models/weft-tales-12m.Q8_0.gguf".to_owned());
    let question = args.next().unwrap_or_else(|| "Tell me a story about a shy dragon.".to_owned());

    let model = Model::open(file, backends::open("auto", &Default::default())?)?;
    let options = RenderOptions { add_generation_prompt: true, ..RenderOptions::default() };
    let text = model.template().render(&[Message::new("user", question)], &options)?;
    // The template writes control tokens itself: they are parsed, and none is added.
    let ids = model.tokenizer().encode(&text, EncodeOptions { add_special: false, parse_special: true })?;

    let mut session = Session::new(&model, SessionOptions::default())?;
    session.prefill(&ids)?;
    let mut sampler = Sampler::new(SamplingParams::default())?;
    let answer =
        session.generate(&mut sampler, &GenerateOptions::default(), |_| ControlFlow::Continue(()))?;
    println!("{}", answer.text);
    Ok(())
}
