//! `finite`, with rows of which some hold NaN and infinities.

use crate::subject::{Subject, Values, values};

/// The kernel.
pub static SUBJECT: Subject = Subject { values: |_, _| values([("x", odd())]), ..Subject::new("finite") };

/// Numbers, and now and then one that is none.
fn odd() -> Values {
    Box::new(|_, random| match random.below(64) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        _ => f64::from(random.unit()),
    })
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
