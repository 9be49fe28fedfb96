//! Prefill and decode rates of a model: the median of several runs, and their spread.
//!
//! `cargo run --release -p weft --example throughput -- MODEL.gguf [NAME=VALUE…]`, or `synth:qwen35:4b:Q8_0` for a model of random
//! weights, with `backend` (cpu, wgpu, hip, wgpu:PART),
//! `threads`, `prompt`, `decode` and `depth` (tokens), `ubatch`, `cache` (a type),
//! `runs`, `hip_graph=1`, `profile=1` for times of kernels, and `profile=FILE.json` to write those of decoding as a trace too.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weft::backends::{self, BackendOptions};
use weft::sampling::{Sampler, SamplingParams};
use weft::session::{Session, SessionOptions};
use weft::synth::{self, SynthError, SynthSpec};
use weft::{Error, Model};
use weft_core::graph::DType;
use weft_core::profile::{Profile, Timing};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().unwrap_or_else(|| "models/weft-tales-12m.Q8_0.gguf".to_owned());
    let file = match file.strip_prefix("synth:") {
        Some(name) => synthetic(name)?,
        None => file,
    };
    let named: BTreeMap<String, String> = args
        .filter_map(|a| a.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())))
        .collect();
    let number = |name: &str, default: usize| named.get(name).and_then(|v| v.parse().ok()).unwrap_or(default);
    let backend = named.get("backend").map_or("cpu", String::as_str);
    let (prompt, decode, depth) = (number("prompt", 128), number("decode", 64), number("depth", 0));
    let trace = named.get("profile").filter(|file| *file != "0");
    let profile = trace.map(|_| Arc::new(Profile::default()));
    let (threads, hip_graph) = (number("threads", 1), number("hip_graph", 0) == 1);
    let opening = BackendOptions { threads, hip_graph, profile: profile.clone(), ..Default::default() };
    let devices = backends::open(backend, &opening)?;
    println!("{}", devices[0].capabilities().device);
    let started = Instant::now();
    let model = Model::open(&file, devices)?;
    model.load(&mut |_, _| {})?;
    println!("loaded in {:.1} s", started.elapsed().as_secs_f64());
    let cache = named.get("cache").map_or("f16", String::as_str);
    let cache = DType::from_name(cache).ok_or_else(|| format!("cache={cache}: no such type"))?;
    let options = SessionOptions {
        context: (depth + prompt + decode) as u64,
        ubatch: number("ubatch", 512) as u64,
        cache: cache.into(),
        ..SessionOptions::default()
    };
    let mut session = Session::new(&model, options)?;
    // Any ids will do: the arithmetic does not depend on them.
    let vocabulary = model.description().hyper().vocabulary;
    let ids = |count: usize| (0..count as u64).map(|i| (i * 7919 % vocabulary) as u32).collect::<Vec<u32>>();
    let (mut prompts, mut decodes) = (Vec::new(), Vec::new());
    for run in 0..=number("runs", 5) {
        session.reset();
        if depth > 0 {
            session.prefill(&ids(depth))?;
        }
        let prefilled = time(|| session.prefill(&ids(prompt)).map(|_| ()))?;
        let times = profile.as_ref().map(|profile| profile.take());
        let mut sampler = Sampler::new(SamplingParams { temperature: 0.0, ..SamplingParams::default() })?;
        let mut id = 1;
        let decoded = time(|| {
            for _ in 0..decode {
                id = session.step(id, &mut sampler)?.id;
            }
            Ok(())
        })?;
        // The first run plans and touches the weights for the first time.
        if run == 0 {
            continue;
        }
        prompts.push(prefilled);
        decodes.push(decoded);
        if let (Some(profile), Some(file), Some(times), 1) = (&profile, trace, times, run) {
            table("prefill", &times);
            if file != "1" {
                let about = serde_json::Map::from_iter([("model".to_owned(), model.name().into())]);
                let mut out = BufWriter::new(File::create(file)?);
                profile.write_trace(&mut out, about)?;
                out.flush()?;
            }
            table("decode", &profile.take());
        }
    }
    report("prefill", prompt, depth, &mut prompts);
    report("decode", decode, depth, &mut decodes);
    Ok(())
}

/// A file of random weights by architecture, size and type, written if there is none yet.
fn synthetic(name: &str) -> Result<String, SynthError> {
    let mut parts = name.split(':').chain(std::iter::repeat(""));
    let mut next = || parts.next().unwrap_or_default();
    let spec = SynthSpec::named(next(), next(), next())?;
    let path = std::env::temp_dir().join(format!("{}.gguf", name.replace(':', "-")));
    if !path.exists() {
        synth::write(&path, &spec, &mut |_| {})?;
    }
    Ok(path.to_string_lossy().into_owned())
}

fn time(mut work: impl FnMut() -> Result<(), Error>) -> Result<Duration, Error> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

fn report(what: &str, tokens: usize, depth: usize, times: &mut [Duration]) {
    times.sort();
    let rate = |time: Duration| tokens as f64 / time.as_secs_f64();
    if let (Some(best), Some(worst)) = (times.first(), times.last()) {
        let median = times[times.len() / 2];
        let (median, worst, best) = (rate(median), rate(*worst), rate(*best));
        println!("{what} {tokens} at {depth}: {median:.1} tokens/s ({worst:.1} to {best:.1})");
    }
}

fn table(what: &str, times: &[Timing]) {
    println!("{what}: kernel, launches, ms, GB/s, TFLOP/s");
    for timing in times {
        let seconds = timing.time.as_secs_f64();
        println!(
            "  {:<44} {:>6} {:>9.3} {:>8.1} {:>7.2}",
            timing.kernel,
            timing.count,
            seconds * 1e3,
            timing.rate().unwrap_or(f64::NAN) / 1e9,
            timing.flop_rate().unwrap_or(f64::NAN) / 1e12
        );
    }
}
