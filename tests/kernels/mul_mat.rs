//! `mul_mat`.

use crate::coverage::Refusal;
use crate::subject::{Subject, factors, values};

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
