//! `mul_mat`.

use crate::coverage::Refusal;
use crate::subject::{Subject, between, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| match case.layout("out") {
        // Short rows of results could all lie near zero, where no relative error is small.
        Some(out) if out.shape[0] < 16 => values([("weight", between(0.0, 1.0)), ("x", between(0.0, 1.0))]),
        _ => values([]),
    },
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
