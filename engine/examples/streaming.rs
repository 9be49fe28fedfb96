//! Text as it comes, stopped from another thread: also inside a long prompt.
//!
//! `cargo run --release -p weft --example streaming -- MODEL.gguf`

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use weft::sampling::{Sampler, SamplingParams};
use weft::session::{GenerateOptions, Session, SessionOptions};
use weft::{Error, Model, backends};

fn main() -> Result<(), Error> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "models/weft-tales-12m.Q8_0.gguf".to_owned());
    let model = Model::open(file, backends::open("auto", &Default::default())?)?;
    let mut session = Session::new(&model, SessionOptions::default())?;

    // One flag for the text; the handle reaches into a prompt that is still being processed.
    let stop = Arc::new(AtomicBool::new(false));
    let (own, cancel) = (Arc::clone(&stop), session.cancel_handle());
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        own.store(true, Ordering::Relaxed);
        cancel.cancel();
    });

    let ids = model.tokenizer().encode("Once upon a time", Default::default())?;
    let mut sampler = Sampler::new(SamplingParams::default())?;
    let outcome = session.prefill(&ids).map(|_| ()).and_then(|()| {
        let options = GenerateOptions { ignore_end: true, ..GenerateOptions::default() };
        session.generate(&mut sampler, &options, |text| {
            print!("{text}");
            // A closed pipe is a reason to stop, not to fail.
            let shown = std::io::stdout().flush().is_ok();
            if shown && !stop.load(Ordering::Relaxed) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })
    });
    match outcome {
        Ok(answer) => println!("\n[{} tokens, {:?}]", answer.ids.len(), answer.finish),
        Err(Error::Cancelled { position }) => println!("\n[cancelled at position {position}]"),
        Err(other) => return Err(other),
    }
    Ok(())
}
