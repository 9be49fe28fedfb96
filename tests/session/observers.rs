//! Listening changes no plan and no bit of a result.

use crate::{ids, model, models, vocabulary};
use std::io;
use std::sync::Arc;
use weft::Model;
use weft::session::{Session, SessionOptions};
use weft_tests::devices;

/// Plan hashes of a prompt and a step, and the bits of their logits.
fn run(model: &Arc<Model>, exact: bool) -> (Vec<u64>, Vec<u32>) {
    let base = if exact { SessionOptions::exact() } else { SessionOptions::default() };
    let mut session = Session::new(model, SessionOptions { context: 256, ubatch: 48, ..base }).unwrap();
    let mut bits: Vec<u32> = session.prefill(&ids(100)).unwrap().iter().map(|v| v.to_bits()).collect();
    for id in ids(8) {
        bits.extend(session.decode(id).unwrap().iter().map(|v| v.to_bits()));
    }
    let hashes = [1, 48].map(|tokens| session.plan(tokens).unwrap().hash).to_vec();
    (hashes, bits)
}

#[test]
fn a_listener_at_the_finest_level_changes_nothing() {
    for model in models() {
        for exact in [false, true] {
            let quiet = run(&model, exact);
            let listener = tracing_subscriber::fmt()
                .with_max_level(tracing::Level::TRACE)
                .with_writer(io::sink)
                .finish();
            let heard = tracing::subscriber::with_default(listener, || run(&model, exact));
            assert_eq!(quiet, heard);
        }
    }
}

#[test]
fn explaining_and_writing_out_a_plan_changes_nothing() {
    for model in models() {
        let mut session =
            Session::new(&model, SessionOptions { context: 256, ..SessionOptions::default() }).unwrap();
        let quiet: Vec<u32> = session.prefill(&ids(40)).unwrap().iter().map(|v| v.to_bits()).collect();
        let plan = session.plan(40).unwrap();
        let before = plan.hash;
        let told: usize = plan.graph.node_ids().map(|node| plan.explain(node).len()).sum();
        let written = serde_json::to_string(&weft_core::plan::PlanRecord::from(&*plan)).unwrap();
        assert!(told > 0 && written.contains("trail"));
        session.reset();
        let heard: Vec<u32> = session.prefill(&ids(40)).unwrap().iter().map(|v| v.to_bits()).collect();
        assert_eq!((before, quiet), (session.plan(40).unwrap().hash, heard));
    }
}

#[test]
fn a_plan_depends_on_the_shape_alone() {
    for model in models() {
        let mut session =
            Session::new(&model, SessionOptions { context: 256, ..SessionOptions::default() }).unwrap();
        session.prefill(&ids(5)).unwrap();
        let early = session.plan(1).unwrap();
        (0..100).for_each(|_| assert_eq!(session.decode(7).unwrap().len() as u64, vocabulary(&model)));
        let late = session.plan(1).unwrap();
        assert!(Arc::ptr_eq(&early, &late), "decoding planned again");
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let run_on = |threads| {
        let options = weft_cpu::Options { threads, ..Default::default() };
        run(&model(devices::cpu(&options)), false).1
    };
    assert_eq!(run_on(1), run_on(2));
    assert_eq!(run_on(1), run_on(3));
}
