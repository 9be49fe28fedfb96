//! Any bytes are a graph or a typed error of one line; a graph that was read is written as it was, and planned or refused.
//!
//! From the repository's root, on a stable toolchain, one line:
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run graph fuzz/corpus/graph tests/fixtures/graphs -- -max_len=65536
//! -malloc_limit_mb=256 -max_total_time=600`
#![no_main]

use std::hint::black_box;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use weft_core::backend::Offer;
use weft_core::driver::{Offered, Options};
use weft_core::graph::Graph;
use weft_core::{kernels, plan};

/// Nodes of a graph that is planned: more only take longer.
const MOST: usize = 200;

fuzz_target!(|bytes: &[u8]| {
    let mut graph = match Graph::from_json(bytes) {
        Ok(graph) => graph,
        Err(error) => return assert!(!error.to_string().contains('\n')),
    };
    let again = Graph::from_json(graph.to_json().as_bytes());
    assert_eq!(again.as_ref(), Ok(&graph), "a graph does not survive its own file");
    graph.normalise();
    assert_eq!(graph.verify(), Ok(()));
    if graph.nodes.len() <= MOST {
        plan(Arc::new(graph));
    }
});

/// Plans for a device with the reference of every kernel, and tells every node's story.
fn plan(graph: Arc<Graph>) {
    let offer = |kernel: &'static kernels::Kernel| Offer {
        contract: &kernel.contract,
        variant: "reference",
        exact: true,
    };
    let offers: Vec<Offer> = kernels::ALL.into_iter().map(offer).collect();
    match plan::build(graph, &[Offered { name: "any", offers: &offers }], &Options::default()) {
        Ok(plan) => plan.graph.node_ids().for_each(|node| drop(black_box(plan.explain(node)))),
        Err(error) => drop(black_box(error.to_string())),
    }
}
