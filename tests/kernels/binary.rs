//! `binary`.

use crate::coverage::Refusal;
use crate::subject::{Subject, between, values};
use weft_core::contract::Constant;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| match case.constants.get("kind") {
        // Divisors stay away from zero.
        Some(Constant::Integer(3)) => values([("b", between(0.5, 1.5))]),
        _ => values([]),
    },
    // The result has the type of its source.
    shadowed: &[Refusal::Type("out")],
    ..Subject::new("binary")
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
