//! `mul_mat_id`.

use crate::subject::{Subject, below, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| values([("ids", below(case.layout("weight").map_or(1, |weight| weight.shape[2])))]),
    ..Subject::new("mul_mat_id")
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
