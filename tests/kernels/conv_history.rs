//! `conv_history`.

use crate::segments;
use crate::subject::{Subject, is_distinct, values};
use weft_core::contract::draw::{Draft, Source};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: |case, random| {
        let [_, rows, ..] = case.layout("x").map_or([1; 4], |x| x.shape);
        let [.., slots, _] = case.layout("history_out").map_or([1; 4], |history| history.shape);
        let table = segments::table(case, rows, slots, 4, random);
        let history = segments::history(&table, is_distinct(case, "history_out"));
        values([("segments", segments::words(&table)), ("history_out", history)])
    },
    ..Subject::new("conv_history")
};

/// A history of a few inputs; none where the convolution has one tap.
fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    let reach = if source.one_in(8) { 0 } else { 1 + source.below(5) };
    draft.set_open("history_out", 0, reach);
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
