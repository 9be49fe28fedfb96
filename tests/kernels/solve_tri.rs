//! `solve_tri`.

use crate::subject::{Subject, between, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    // A diagonal away from zero.
    values: |_, _| values([("a", between(0.5, 1.5))]),
    ..Subject::new("solve_tri")
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
