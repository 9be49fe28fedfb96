//! `router`; k is the length of a row of ids.

use crate::subject::{Subject, between, values};
use weft_core::contract::Constant;
use weft_core::contract::draw::{Draft, Source};

/// The kernel.
pub static SUBJECT: Subject =
    Subject { complete, values: |_, _| values([("logits", between(-6.0, 6.0))]), ..Subject::new("router") };

/// k is the length of a row of ids; some rows of logits are longer than a workgroup.
fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    draft.set_constant("k", Constant::Integer(draft.extent("K") as u32));
    draft.set_constant("scale", Constant::Float([1.0, 0.5][source.below(2) as usize]));
    draft.set_constant("least", Constant::Float([1e-4, 0.9][source.below(2) as usize]));
    if source.one_in(8) {
        draft.set_open("logits", 0, 250 + source.below(800));
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
