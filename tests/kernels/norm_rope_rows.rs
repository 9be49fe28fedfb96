//! `norm_rope_rows`: as `norm_rope`, its heads side by side in rows of a cache.

use crate::rope::complete;
use crate::set_rows;
use crate::subject::{Subject, below, between, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: |case, _| {
        let (positions, divisors) = (below(5000), between(0.5, 4.0));
        values([("positions", positions), ("divisors", divisors), ("rows", set_rows::targets(case))])
    },
    ..Subject::new("norm_rope_rows")
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
