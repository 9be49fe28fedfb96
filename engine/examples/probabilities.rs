//! The likeliest next tokens after a text.
//!
//! `cargo run --release -p weft --example probabilities -- MODEL.gguf "Once upon a"`

use weft::sampling::{Sampler, SamplingParams};
use weft::session::{Session, SessionOptions};
use weft::{Error, Model, backends};

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap_or_else(|| "models/weft-tales-12m.Q8_0.gguf".to_owned());
    let text = args.next().unwrap_or_else(|| "Once upon a".to_owned());
    let model = Model::open(file, backends::open("auto", &Default::default())?)?;
    let mut session = Session::new(&model, SessionOptions::exact())?;
    session.prefill(&model.tokenizer().encode(&text, Default::default())?)?;
    let params =
        SamplingParams { temperature: 1.0, top_k: 5, top_p: 1.0, min_p: 0.0, ..SamplingParams::default() };
    let mut sampler = Sampler::new(params)?;
    for candidate in sampler.distribution(session.logits())? {
        let piece = model.tokenizer().token_bytes(candidate.id)?;
        println!("{:6.3} {:?}", candidate.probability, String::from_utf8_lossy(piece));
    }
    Ok(())
}
