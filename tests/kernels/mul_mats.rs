//! `mul_mats` with two, three and four products.

use crate::subject::{Subject, factors, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| {
        values([
            ("x", factors(case, "out0")),
            ("w0", factors(case, "out0")),
            ("w1", factors(case, "out1")),
            ("w2", factors(case, "out2")),
            ("w3", factors(case, "out3")),
        ])
    },
    ..Subject::new("mul_mats")
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
