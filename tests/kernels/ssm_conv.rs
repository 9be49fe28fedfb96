//! `ssm_conv` in both forms: over a tensor with its history in front, and over segments with a pool of histories.

use crate::segments;
use crate::subject::{Subject, factors, is_distinct, values};
use weft_core::contract::Constant;
use weft_core::contract::draw::{Draft, Source};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: |case, random| {
        let [_, rows, ..] = case.layout("x").map_or([1; 4], |x| x.shape);
        let [.., slots, _] = case.layout("history").map_or([1; 4], |history| history.shape);
        let table = segments::table(case, rows, slots, 4, random);
        let history = segments::history(&table, is_distinct(case, "history"));
        values([
            ("x", factors(case, "out")),
            ("weight", factors(case, "out")),
            ("segments", segments::words(&table)),
            ("history", history),
        ])
    },
    ..Subject::new("ssm_conv")
};

fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    let (taps, dilation) = (1 + source.below(4), 1 + source.below(3));
    let reach = (taps - 1) * dilation;
    draft.set_extent("taps", taps);
    draft.set_constant("dilation", Constant::Integer(dilation as u32));
    let (channels, tokens) = (draft.extent("C"), draft.extent("T"));
    let segmented = draft.is_bound("history");
    let [first, second] = if segmented { [channels, tokens] } else { [tokens + reach, channels] };
    draft.set_open("x", 0, first);
    draft.set_open("x", 1, second);
    if segmented {
        draft.set_open("history", 0, reach + source.below(2) * source.below(4));
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
