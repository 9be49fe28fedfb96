//! `expert_sum_norm`, with and without a shared expert.

use crate::subject::{Subject, factors, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| {
        let factors = || factors(case, "out");
        values([("x", factors()), ("weights", factors()), ("extra", factors())])
    },
    ..Subject::new("expert_sum_norm")
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
