//! `clamp`.

use crate::subject::Subject;
use weft_core::contract::Constant;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete: |draft, _| draft.set_constant("min", Constant::Float(-0.25)),
    ..Subject::new("clamp")
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
