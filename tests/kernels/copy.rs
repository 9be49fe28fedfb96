//! `copy`.

use crate::coverage::Refusal;
use crate::subject::{Subject, between, values};
use weft_core::contract::draw::{Draft, Source};
use weft_core::graph::DType;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    // Whole parts matter where integers are written.
    values: |case, _| match case.layout("x").map(|x| x.dtype) {
        Some(DType::I32) | None => values([]),
        Some(_) => values([("x", between(-100.0, 100.0))]),
    },
    // The source has the same extents.
    shadowed: &[Refusal::Extent("out", 2), Refusal::Extent("out", 3)],
    ..Subject::new("copy")
};

/// As many elements in the result as in the source, under the same shape or another one. Rows are whole blocks of both.
fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    let blocks = |port| draft.dtype(port).map_or(1, DType::block_values);
    let block = blocks("x").max(blocks("out"));
    let [row, b, c, d] = draft.shape("x");
    let a = row.next_multiple_of(block);
    draft.set_open("x", 0, a);
    let shapes =
        [[a, b, c, d], [a, b, c, d], [a * b, c, d, 1], [a, b * c * d, 1, 1], [a, c, b, d], [b, a, c, d]];
    // The last one moves the blocks' dimension.
    let most = if block > 1 { 5 } else { 6 };
    let shape = source.pick(&shapes[..most]).unwrap_or(shapes[0]);
    (0..4).for_each(|dim| draft.set_open("out", dim, shape[dim]));
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
