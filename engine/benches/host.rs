//! What the host costs: planning, and a decode step in which no kernel runs.
#![allow(clippy::unwrap_used, reason = "a benchmark may stop at a failure")]

use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft::models::{Batch, Description, Rows};
use weft::session::{Session, SessionOptions};
use weft::synth::SynthSpec;
use weft_core::backend::Backend;
use weft_core::driver::{Offered, Options};
use weft_core::graph::DType;
use weft_core::plan;

fn cpu(idle: bool, threads: usize) -> Arc<dyn Backend> {
    Arc::new(weft_cpu::Cpu::open(&weft_cpu::Options { idle, threads, ..Default::default() }).unwrap())
}

/// A 64-layer model of 27 billion values, of which only the head of the file exists.
fn planning(c: &mut Criterion) {
    let head = SynthSpec::named("qwen35", "27b", "Q4_K_M").unwrap().head().unwrap();
    let description = Description::new(Arc::new(Gguf::from_head("27b", head).unwrap())).unwrap();
    let backend = cpu(true, 1);
    let offered = [Offered { name: backend.name(), offers: backend.offers() }];
    for tokens in [1, 512] {
        let rows = if tokens == 1 { Rows::All } else { Rows::Some(1) };
        let cache = DType::F16.into();
        let batch = Batch { tokens, rows, ..Batch::token(32_768, cache) };
        let graph = Arc::new(description.graph(&batch).unwrap());
        c.bench_function(&format!("build the graph of a 27B ubatch of {tokens}"), |b| {
            b.iter(|| black_box(description.graph(&batch).unwrap()));
        });
        c.bench_function(&format!("plan a 27B ubatch of {tokens}"), |b| {
            b.iter(|| black_box(plan::build(Arc::clone(&graph), &offered, &Options::default()).unwrap()));
        });
    }
}

fn decoding(c: &mut Criterion) {
    for threads in [1, 2] {
        let model = Model::open("../models/weft-tales-12m.Q8_0.gguf", vec![cpu(true, threads)]).unwrap();
        let mut session = Session::new(&model, SessionOptions::default()).unwrap();
        session.prefill(&[1]).unwrap();
        c.bench_function(&format!("decode step without kernels, {threads} threads"), |b| {
            b.iter(|| {
                if session.tokens().len() as u64 == session.context() {
                    session.reset();
                }
                black_box(session.decode(2).unwrap());
            });
        });
    }
}

criterion_group!(benches, planning, decoding);
criterion_main!(benches);
