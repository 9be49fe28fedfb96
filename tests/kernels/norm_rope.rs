//! `norm_rope`: as `rope`, after a norm.

use crate::rope::complete;
use crate::subject::{Subject, below, between, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: |_, _| values([("positions", below(1 << 18)), ("divisors", between(0.5, 4.0))]),
    ..Subject::new("norm_rope")
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
