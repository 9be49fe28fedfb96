//! `set_rows`.

use crate::subject::{Subject, Values, values};
use weft_core::contract::draw::Case;

/// The kernel.
pub static SUBJECT: Subject =
    Subject { values: |case, _| values([("rows", targets(case))]), ..Subject::new("set_rows") };

/// Rows of the result: some are dropped, some are met twice.
pub fn targets(case: &Case) -> Values {
    let limit = case.layout("out").map_or(1, |out| out.shape[1]);
    Box::new(move |_, random| random.below(limit + 1) as f64 - 1.0)
}

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
