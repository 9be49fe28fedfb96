//! `top_k`, with ties; k is the length of the result's rows.

use crate::subject::{Subject, ties, values};
use weft_core::contract::Constant;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete: |draft, _| draft.set_constant("k", Constant::Integer(draft.extent("K") as u32)),
    values: |_, _| values([("x", ties())]),
    ..Subject::new("top_k")
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
