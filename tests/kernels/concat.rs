//! `concat`.

use crate::subject::Subject;
use weft_core::contract::draw::{Draft, Source};

/// The kernel.
pub static SUBJECT: Subject = Subject { complete, ..Subject::new("concat") };

/// `b` differs from `a` in one extent; the result has both.
fn complete(draft: &mut Draft, _: &mut Source<'_>) {
    let joined = draft.integer("dim") as usize;
    let (a, b) = (draft.shape("a"), draft.shape("b"));
    for dim in 0..4 {
        let other = if dim == joined { b[dim] } else { a[dim] };
        draft.set_open("b", dim, other);
        draft.set_open("out", dim, if dim == joined { a[dim] + other } else { a[dim] });
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
