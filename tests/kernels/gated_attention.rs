//! `gated_attention`: as `flash_attention`, then a gate.

use crate::coverage::Refusal;
use crate::flash_attention::{all, complete};
use crate::subject::Subject;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: all,
    shadowed: &[Refusal::Extent("out", 0), Refusal::Extent("gate", 0)],
    ..Subject::new("gated_attention")
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
