//! Decoded tokens as graphs: the same answers to the bit, whether the runtime makes them, refuses, or runs them wrongly.

use crate::{alone, ids, model, opened, session};
use std::sync::Arc;
use weft::session::{Session, SessionOptions};
use weft_core::backend::{Backend, Offer};
use weft_core::profile::Profile;
use weft_hip::{Counters, Hip};
use weft_tests::devices;
use weft_tests::faulty::Faulty;

/// Tokens after the prompt.
const DECODED: usize = 6;

/// Bits of logits of a prompt and of tokens after it, exact and fast.
fn logits(backends: Vec<Arc<dyn Backend>>) -> Vec<u32> {
    let ids = ids();
    let model = model(backends);
    let fast = Session::new(&model, SessionOptions { context: 256, ..SessionOptions::default() }).unwrap();
    let mut logits = Vec::new();
    for mut session in [session(&model), fast] {
        logits.extend_from_slice(session.prefill(&ids[..5]).unwrap());
        for id in &ids[5..5 + DECODED] {
            logits.extend_from_slice(session.decode(*id).unwrap());
        }
    }
    logits.into_iter().map(f32::to_bits).collect()
}

/// Logits of a device, and what it counted.
type Answers = (Vec<u32>, Counters);

fn answers(gpu: &Arc<Hip>) -> Answers {
    (logits(vec![Arc::clone(gpu) as Arc<dyn Backend>]), gpu.counters())
}

/// Answers of each device that is meant, launch by launch and with graphs wanted: by its name.
fn both(means: impl Fn(&str) -> bool) -> Vec<(String, [Answers; 2])> {
    let pairs = opened(|_| {}).into_iter().zip(opened(|options| options.graphs = true));
    let meant = pairs.filter(|(gpu, _)| means(gpu.name()));
    meant.map(|(plain, graphs)| (plain.name().to_owned(), [answers(&plain), answers(&graphs)])).collect()
}

/// The stand-in that has the faults for which tests ask.
fn has_faults(name: &str) -> bool {
    name == "hip:fibers"
}

#[test]
fn graphs_give_the_same_answers() {
    for (name, [(want, plain), (got, graphs)]) in both(|_| true) {
        assert!(want == got, "{name}");
        assert_eq!((plain.graphs, graphs.refused_graphs), (0, 0), "{name}");
        // The first token is launched, the second is recorded and compared.
        assert_eq!(graphs.graphs, 2 * (DECODED as u64 - 1), "{name}");
        assert!(graphs.launches < plain.launches, "{name}");
    }
}

#[test]
fn each_split_of_a_plan_is_a_graph() {
    for (plain, graphs) in opened(|_| {}).into_iter().zip(opened(|options| options.graphs = true)) {
        let shared = |gpu: &Arc<Hip>| {
            let attends = |offer: &Offer| offer.contract.kernel.ends_with("_attention");
            let gpu = Faulty::around(Arc::clone(gpu) as Arc<dyn Backend>).without(attends).shared();
            vec![gpu, devices::reference()]
        };
        let splits = session(&model(shared(&graphs))).plan(1).unwrap().census().splits;
        assert!(splits > 2, "{splits}");
        assert!(logits(shared(&plain)) == logits(shared(&graphs)), "{}", plain.name());
        let counters = graphs.counters();
        assert_eq!(counters.refused_graphs, 0);
        assert!(counters.graphs > 2 * (DECODED as u64 - 1), "{counters:?}");
    }
}

#[test]
fn without_graphs_of_the_runtime_kernels_are_launched() {
    if !alone(
        "graphs::without_graphs_of_the_runtime_kernels_are_launched",
        &[("HIP_STAND_IN_GRAPHS", "refused")],
    ) {
        return;
    }
    for (name, [(want, plain), (got, graphs)]) in both(has_faults) {
        assert!(want == got, "{name}");
        assert_eq!((graphs.graphs, graphs.launches), (0, plain.launches), "{name}");
        assert!(graphs.refused_graphs > 0, "{name}");
    }
}

#[test]
fn a_graph_that_computes_something_else_is_not_used() {
    if !alone("graphs::a_graph_that_computes_something_else_is_not_used", &[("HIP_STAND_IN_GRAPHS", "short")])
    {
        return;
    }
    for (name, [(want, _), (got, graphs)]) in both(has_faults) {
        assert!(want == got, "{name}");
        // Run once each, to be compared.
        assert_eq!(graphs.graphs, graphs.refused_graphs, "{name}");
        assert!(graphs.graphs > 0, "{name}");
    }
}

#[test]
fn timed_launches_are_no_graphs() {
    let profile = Arc::new(Profile::default());
    for gpu in opened(|options| (options.graphs, options.profile) = (true, Some(Arc::clone(&profile)))) {
        let (_, counters) = answers(&gpu);
        assert_eq!((counters.graphs, counters.refused_graphs), (0, 0));
        assert!(profile.take().iter().any(|timing| timing.count > 2));
    }
}
