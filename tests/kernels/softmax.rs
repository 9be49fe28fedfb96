//! `softmax`.

use crate::subject::{Subject, values};
use weft_tests::Random;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |_, random| {
        let masked = random.below(4);
        // A row that is masked whole, single cells, and plain summands.
        let mask = move |[_, row, ..]: [u64; 4], random: &mut Random| {
            let out = row == masked || random.below(4) == 0;
            if out { f64::NEG_INFINITY } else { f64::from(random.unit()) }
        };
        values([("mask", Box::new(mask))])
    },
    ..Subject::new("softmax")
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
