//! `scale`.

use crate::coverage::Refusal;
use crate::subject::{Subject, between, values};
use weft_core::contract::Constant;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete: |draft, source| {
        if source.one_in(4) {
            draft.set_constant("scale", Constant::Float(0.0));
        }
    },
    values: |case, _| match case.constants.get("scale") {
        // Scaling by zero clears a state, whatever it held.
        Some(Constant::Float(0.0)) => values([("x", between(f64::NAN, f64::NAN))]),
        _ => values([]),
    },
    // The result has the type of its source.
    shadowed: &[Refusal::Type("out")],
    ..Subject::new("scale")
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
