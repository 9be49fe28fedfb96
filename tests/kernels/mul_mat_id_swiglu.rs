//! `mul_mat_id_swiglu`.

use crate::subject::{Subject, below, factors, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| {
        let experts = case.layout("gate").map_or(1, |weight| weight.shape[2]);
        let factors = || factors(case, "out");
        values([("ids", below(experts)), ("gate", factors()), ("up", factors()), ("x", factors())])
    },
    ..Subject::new("mul_mat_id_swiglu")
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
