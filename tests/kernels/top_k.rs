//! `top_k`, with ties; k is the length of the result's rows.

use crate::subject::{Subject, ties, values};
use weft_core::contract::Constant;
use weft_core::contract::draw::{Draft, Source};

/// The kernel.
pub static SUBJECT: Subject =
    Subject { complete, values: |_, _| values([("x", ties())]), ..Subject::new("top_k") };

/// k is the length of the result's rows; some rows of the source are long enough to be shared out.
fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    draft.set_constant("k", Constant::Integer(draft.extent("K") as u32));
    if source.one_in(8) {
        draft.set_open("x", 0, 4000 + source.below(9000));
    }
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
