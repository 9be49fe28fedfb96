//! `rope` in its three kinds.

use crate::coverage::Refusal;
use crate::subject::{Subject, below, between, values};
use weft_core::contract::Constant;
use weft_core::contract::draw::{Draft, Source};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: |_, _| values([("positions", below(1 << 18)), ("divisors", between(0.5, 4.0))]),
    // The result has the type of its source.
    shadowed: &[Refusal::Type("out")],
    ..Subject::new("rope")
};

/// Rotated dimensions are even and inside the head; each pair has a divisor, each token its positions.
pub fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    let pairs = draft.extent("D") / 2;
    let pairs = if source.one_in(3) { source.below(pairs + 1) } else { pairs };
    let positions = if draft.integer("kind") == 2 { 4 } else { 1 };
    draft.set_open("positions", 0, draft.extent("T") * positions);
    draft.set_open("divisors", 0, pairs);
    draft.set_constant("dims", Constant::Integer(2 * pairs as u32));
    draft.set_constant("base", Constant::Float(10_000.0));
    draft.set_constant("yarn_context", Constant::Integer(4096));
    if source.one_in(2) {
        draft.set_constant("yarn_mix", Constant::Float(0.0));
    }
    // At least one section.
    draft.set_constant("section_t", Constant::Integer(1 + source.below(4) as u32));
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
