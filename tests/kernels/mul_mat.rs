//! `mul_mat`.

use crate::coverage::Refusal;
use crate::machines;
use crate::subject::{Subject, factors, values};
use std::sync::Arc;
use weft_core::driver::{Options, Why};
use weft_core::graph::{DType, GraphBuilder};
use weft_tests::graphs::plan_for;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| values([("weight", factors(case, "out")), ("x", factors(case, "out"))]),
    // The columns have the same extents.
    shadowed: &[Refusal::Extent("out", 2), Refusal::Extent("out", 3)],
    ..Subject::new("mul_mat")
};

#[test]
fn equals_its_reference() {
    SUBJECT.equals_its_reference();
}

#[test]
fn declines_one_step_outside() {
    SUBJECT.declines_one_step_outside();
}

#[test]
fn falls_back_to_a_variant_that_admits_it() {
    SUBJECT.falls_back();
}

#[test]
fn exactness_passes_over_eight_bit_dots() {
    let mut builder = GraphBuilder::new();
    let weight = builder.weight("weight", DType::Q8_0, &[64, 8]).expect("a weight");
    let x = builder.input("x", DType::F32, &[64, 3]).expect("an input");
    let out = builder.mul_mat(weight, x).expect("a product");
    builder.output("out", out).expect("an output");
    let graph = Arc::new(builder.finish().expect("a graph"));
    let Some(cpu) = machines::all().iter().find(|machine| machine.backend.name() == "cpu") else { return };
    let devices = [Arc::clone(&cpu.backend)];
    for (exact, variant) in [(false, "q8"), (true, "f32")] {
        let plan = plan_for(&graph, &devices, &Options { exact, ..Options::default() }).expect("a plan");
        assert_eq!(plan.dispatches[0].variant, variant);
        let mut declines = plan.trail.iter().flat_map(|attempt| &attempt.declines);
        assert_eq!(declines.any(|decline| decline.why == Why::NotExact { variant: "q8" }), exact);
    }
}
