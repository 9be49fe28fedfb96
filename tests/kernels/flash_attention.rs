//! `flash_attention` over all cells, and over the cells that a segment sees.

use crate::coverage::Refusal;
use crate::segments::{self, of_slot};
use crate::subject::{Subject, Values, between, factors, is_distinct, values};
use std::collections::BTreeMap;
use weft_core::contract::draw::{Case, Draft, Source};
use weft_tests::Random;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: all,
    // Where keys and values are of one width, values of another are refused before the result that is as wide.
    shadowed: &[Refusal::Extent("out", 0)],
    ..Subject::new("flash_attention")
};

/// `P` counts slots where there are segments, else sequences. Now and then there are enough cells for several blocks.
pub fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    if draft.extent("C") > 0 && source.one_in(3) {
        draft.set_extent("C", source.pick(&[31, 33, 65, 129, 200, 300]).unwrap_or(1));
    }
    if !draft.is_bound("segments") {
        draft.set_extent("P", draft.extent("S"));
    }
}

/// Cells that nobody sees hold NaN, where they share no byte with others.
pub fn all(case: &Case, random: &mut Random) -> BTreeMap<&'static str, Values> {
    let [_, rows, ..] = case.layout("q").map_or([1; 4], |q| q.shape);
    let [_, cells, _, slots] = case.layout("k").map_or([1; 4], |k| k.shape);
    let mut table = segments::table(case, rows, slots, 1, random);
    // Positions all over the cache, and now and then beyond it.
    table.iter_mut().filter(|s| s.count > 0).for_each(|s| s.position = random.below(cells + 4) as u32);
    let segmented = case.layout("segments").is_some();
    // The last cell is masked for all.
    let masks = case.layout("mask").is_some() && is_distinct(case, "mask") && cells > 1;
    let excluded = if masks { cells - 1 } else { cells };
    // One column seen many times makes a row that may lie near zero altogether, as a short one.
    let single = case.layout("v").is_some_and(|v| v.shape[0] > v.dtype.block_values() && v.strides[0] == 0);
    let cache = |port: &str| -> Values {
        let (table, distinct) = (table.clone(), is_distinct(case, port));
        let mut number = if single { between(0.25, 1.0) } else { factors(case, "out") };
        Box::new(move |index, random| {
            let [_, cell, _, slot] = index;
            let seen = |s: weft_core::segment::Segment| cell < u64::from(s.position) + u64::from(s.count);
            let seen = !segmented || of_slot(&table, slot).is_some_and(seen);
            if (seen && cell != excluded) || !distinct { number(index, random) } else { f64::NAN }
        })
    };
    let hidden = random.below(4);
    let mask = move |[cell, row, ..]: [u64; 4], random: &mut Random| {
        let out = cell == excluded || row == hidden || random.below(4) == 0;
        if out { f64::NEG_INFINITY } else { f64::from(random.unit()) }
    };
    values([
        ("k", cache("k")),
        ("v", cache("v")),
        ("mask", Box::new(mask)),
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
