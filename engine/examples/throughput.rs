//! Prefill and decode rates of a model: the median of several runs, and their spread.
//!
//! `cargo run --release -p weft --example throughput -- MODEL.gguf THREADS [PROMPT] [DECODE] [RUNS]`

use std::time::{Duration, Instant};
use weft::backends::{self, BackendOptions};
use weft::session::{Session, SessionOptions};
use weft::{Error, Model};

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap_or_else(|| "models/weft-tales-12m.Q8_0.gguf".to_owned());
    let mut number = |default: usize| args.next().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (threads, prompt, decode, runs) = (number(1), number(128), number(64), number(5));
    let model =
        Model::open(&file, backends::open("cpu", &BackendOptions { threads, ..BackendOptions::default() })?)?;
    let context = (prompt + decode) as u64;
    let mut session = Session::new(&model, SessionOptions { context, ..SessionOptions::default() })?;
    // Any ids will do: the arithmetic does not depend on them.
    let vocabulary = model.description().hyper().vocabulary;
    let ids: Vec<u32> = (0..prompt as u64).map(|i| (i * 7919 % vocabulary) as u32).collect();
    let (mut prompts, mut decodes) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        session.reset();
        let started = Instant::now();
        session.prefill(&ids)?;
        let prefilled = started.elapsed();
        let started = Instant::now();
        for i in 0..decode as u64 {
            session.decode((i * 104_729 % vocabulary) as u32)?;
        }
        // The first run plans and touches the weights for the first time.
        if run > 0 {
            prompts.push(prefilled);
            decodes.push(started.elapsed());
        }
    }
    report("prefill", prompt, &mut prompts);
    report("decode", decode, &mut decodes);
    Ok(())
}

fn report(what: &str, tokens: usize, times: &mut [Duration]) {
    times.sort();
    let rate = |time: Duration| tokens as f64 / time.as_secs_f64();
    if let (Some(best), Some(worst)) = (times.first(), times.last()) {
        let median = times[times.len() / 2];
        println!("{what} {tokens}: {:.1} tokens/s ({:.1} to {:.1})", rate(median), rate(*worst), rate(*best));
    }
}
