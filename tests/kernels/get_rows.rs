//! `get_rows`.

use crate::coverage::Refusal;
use crate::subject::{Subject, below, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| values([("rows", below(case.layout("table").map_or(1, |table| table.shape[1])))]),
    // The result has the type of its source.
    shadowed: &[Refusal::Type("out")],
    ..Subject::new("get_rows")
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
