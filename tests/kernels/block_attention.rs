//! `block_attention`: lists that name blocks of the past, of the future, and none at all.

use crate::coverage::Refusal;
use crate::segments::{self, of_slot};
use crate::subject::{Subject, Values, factors, is_distinct, values};
use std::collections::BTreeMap;
use weft_core::contract::Constant;
use weft_core::contract::draw::{Case, Draft, Source};
use weft_tests::Random;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: all,
    // Where keys and values are of one width, values of another are refused before the result that is as wide.
    shadowed: &[Refusal::Extent("out", 0)],
    ..Subject::new("block_attention")
};

/// Now and then lists are longer than the threads of a group.
fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    draft.set_constant("block", Constant::Integer(1 + source.below(5) as u32));
    if draft.extent("C") > 0 && source.one_in(3) {
        draft.set_extent("C", source.pick(&[31, 33, 65, 129, 200, 300]).unwrap_or(1));
    }
    if source.one_in(4) {
        draft.set_open("blocks", 0, 60 + source.below(240));
    }
}

/// Cells that nobody could see hold NaN, where they share no byte with others.
fn all(case: &Case, random: &mut Random) -> BTreeMap<&'static str, Values> {
    let [_, rows, ..] = case.layout("q").map_or([1; 4], |q| q.shape);
    let [_, cells, _, slots] = case.layout("k").map_or([1; 4], |k| k.shape);
    let size = u64::from(case.constants.u32("block").unwrap_or(1));
    let mut table = segments::table(case, rows, slots, 1, random);
    table.iter_mut().filter(|s| s.count > 0).for_each(|s| s.position = random.below(cells + 4) as u32);
    let cache = |port: &str| -> Values {
        let (table, distinct) = (table.clone(), is_distinct(case, port));
        let mut number = factors(case, "out");
        Box::new(move |index, random| {
            let [_, cell, _, slot] = index;
            let ends = |s: weft_core::segment::Segment| cell < u64::from(s.position) + u64::from(s.count);
            let seen = !distinct || of_slot(&table, slot).is_some_and(ends);
            if seen { number(index, random) } else { f64::NAN }
        })
    };
    let blocks = move |_: [u64; 4], random: &mut Random| match random.below(8) {
        0 => -1.0 - random.below(3) as f64,
        1 => 2e9,
        _ => random.below(cells / size + 2) as f64,
    };
    values([
        ("k", cache("k")),
        ("v", cache("v")),
        ("blocks", Box::new(blocks)),
        ("segments", segments::words(&table)),
    ])
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
