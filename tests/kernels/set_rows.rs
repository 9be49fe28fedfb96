//! `set_rows`.

use crate::subject::{Subject, values};
use weft_tests::Random;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| {
        let limit = case.layout("out").map_or(1, |out| out.shape[1]);
        // Some rows are dropped, some targets are met twice.
        let row = move |_: [u64; 4], random: &mut Random| random.below(limit + 1) as f64 - 1.0;
        values([("rows", Box::new(row))])
    },
    ..Subject::new("set_rows")
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
