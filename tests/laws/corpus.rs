//! All graphs of these tests that are small enough to run, planned.

use crate::padding::{is_plain, padded};
use weft_core::driver::Options;
use weft_core::plan::Plan;
use weft_tests::devices;
use weft_tests::graphs::misses::{self, Miss};
use weft_tests::graphs::{catalog, plan_for, without};

/// Plans of every fixture, of those with gaps, and of every near miss, on the tuned CPU and on its references.
pub fn plans() -> Vec<Plan> {
    let mut graphs: Vec<_> = catalog::all().into_iter().map(|f| f.graph).collect();
    for firing in misses::all() {
        if is_plain(&firing.fixture) {
            graphs.push(padded(&firing.fixture, 4, 8).graph);
        }
        graphs.extend(firing.misses().into_iter().map(|Miss { graph, .. }| graph));
    }
    let mut all = Vec::new();
    for device in [devices::complete(), devices::reference()] {
        for options in [Options::default(), without(&["gdn_layer"])] {
            let plan = |graph| plan_for(graph, std::slice::from_ref(&device), &options).unwrap();
            all.extend(graphs.iter().map(plan));
        }
    }
    all
}
