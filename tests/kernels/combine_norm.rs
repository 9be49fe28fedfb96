//! `combine_norm`.

use crate::subject::Subject;

/// The kernel.
pub static SUBJECT: Subject = Subject::new("combine_norm");

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
