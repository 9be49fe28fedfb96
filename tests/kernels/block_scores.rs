//! `block_scores`: blocks that a token sees whole, of several sequences.

use crate::segments::{self, of_slot};
use crate::subject::{Subject, Values, factors, is_distinct, values};
use std::collections::BTreeMap;
use weft_core::contract::Constant;
use weft_core::contract::draw::{Case, Draft, Source};
use weft_tests::Random;

/// The kernel.
pub static SUBJECT: Subject = Subject { complete, values: all, ..Subject::new("block_scores") };

fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    draft.set_constant("block", Constant::Integer(1 + source.below(5) as u32));
}

/// Keys of blocks that nobody sees hold NaN, where they share no byte with others.
fn all(case: &Case, random: &mut Random) -> BTreeMap<&'static str, Values> {
    let [_, _, rows, _] = case.layout("q").map_or([1; 4], |q| q.shape);
    let [_, blocks, slots, _] = case.layout("keys").map_or([1; 4], |keys| keys.shape);
    let size = u64::from(case.constants.u32("block").unwrap_or(1));
    let mut table = segments::table(case, rows, slots, 1, random);
    // Positions all over the cache, and now and then beyond it.
    table
        .iter_mut()
        .filter(|s| s.count > 0)
        .for_each(|s| s.position = random.below((blocks + 1) * size) as u32);
    let (seen, distinct) = (table.clone(), is_distinct(case, "keys"));
    let mut number = factors(case, "out");
    let keys = move |index: [u64; 4], random: &mut Random| {
        let [_, block, slot, _] = index;
        let ends = |s: weft_core::segment::Segment| (block + 1) * size <= u64::from(s.position + s.count);
        let used = !distinct || of_slot(&seen, slot).is_some_and(ends);
        if used { number(index, random) } else { f64::NAN }
    };
    values([("keys", Box::new(keys)), ("segments", segments::words(&table))])
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
