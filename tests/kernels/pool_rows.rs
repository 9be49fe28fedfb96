//! `pool_rows`: means of cached rows, as heads of `norm_rope_rows`.

use crate::rope::complete;
use crate::set_rows;
use crate::subject::{Subject, below, between, values};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: |case, _| {
        let cells = below(case.layout("cache").map_or(1, |cache| cache.shape[1]));
        let (positions, divisors) = (below(5000), between(0.5, 4.0));
        let rows = set_rows::targets(case);
        values([("cells", cells), ("positions", positions), ("divisors", divisors), ("rows", rows)])
    },
    ..Subject::new("pool_rows")
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
