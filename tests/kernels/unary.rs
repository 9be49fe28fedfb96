//! `unary`.

use crate::coverage::Refusal;
use crate::subject::{Subject, between, values};
use weft_core::contract::Constant;
use weft_core::graph::UnaryKind;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| match case.constants.get("kind") {
        Some(Constant::Integer(kind)) if kind == UnaryKind::Sqrt as u32 || kind == UnaryKind::Log as u32 => {
            values([("x", between(0.1, 2.0))])
        }
        _ => values([("x", between(-6.0, 6.0))]),
    },
    // The result has the type of its source.
    shadowed: &[Refusal::Type("out")],
    ..Subject::new("unary")
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
