//! `flash_attention` over all cells, and over the cells that a segment sees.

use crate::check::{draw_case, offers};
use crate::coverage::Refusal;
use crate::data::{Bench, gather};
use crate::segments::{self, of_slot};
use crate::subject::{Subject, Values, between, factors, is_distinct, values};
use crate::{dispatch, machines};
use std::collections::BTreeMap;
use weft_core::contract::draw::{Case, Draft, Source, Wish};
use weft_tests::Random;
use weft_tests::run::floats;

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

/// The values of a case, but for one number of a cell that is none.
fn spoilt(case: &Case, random: &mut Random) -> BTreeMap<&'static str, Values> {
    let mut all = all(case, random);
    let port = random.pick(&["k", "v"]);
    let shape = case.layout(port).map_or([1; 4], |layout| layout.shape);
    let place = shape.map(|extent| random.below(extent));
    if let Some(mut values) = all.remove(port) {
        let with_nan = move |index, random: &mut Random| {
            let value = values(index, random);
            if index == place { f64::NAN } else { value }
        };
        all.insert(port, Box::new(with_nan));
    }
    all
}

/// What a cell holds shows in the rows that see it, and in no other.
#[test]
fn nan_shows_where_it_is_seen() {
    let subject = Subject { complete, values: spoilt, ..Subject::new("flash_attention") };
    let reference = machines::backends().next().expect("a machine");
    let plain = offers(&subject, reference).last().expect("a reference");
    for machine in machines::backends() {
        for offer in offers(&subject, machine) {
            let (mut shown, mut hidden) = (0, 0);
            for attempt in 0..60 {
                let mut random = Random::named("nan", attempt << 32 | 5);
                let wish = Wish { tokens: Some(1 + random.below(20)), ..Wish::default() };
                let Some(case) = draw_case(&subject, offer.contract, &wish, 1 << 16, &mut random) else {
                    continue;
                };
                if !is_distinct(&case, "k") || !is_distinct(&case, "v") {
                    continue;
                }
                let bench = Bench::new(&subject, case, &mut random).expect("sane data");
                let at = offer.contract.port("out").expect("a port");
                let rows = |machine: &machines::Machine, offer| -> Vec<bool> {
                    let after = dispatch::run(&*machine.backend, offer, &bench.case, &bench.storages);
                    let layout = bench.case.operands[at].expect("a result");
                    let bytes = gather(&after.expect("it runs")[at], &layout);
                    let values = floats(&bytes);
                    let row = (layout.shape[0] as usize).max(1);
                    values.chunks(row).map(|row| row.iter().any(|v| v.is_nan())).collect()
                };
                let (want, got) = (rows(reference, plain), rows(machine, offer));
                let place = format!("{} on {} attempt {attempt}", offer.variant, machine.name);
                assert_eq!(got, want, "{place}: {:#?}", bench.case.operands);
                shown += want.iter().filter(|nan| **nan).count();
                hidden += want.iter().filter(|nan| !**nan).count();
            }
            assert!(shown > 10 && hidden > 10, "{}: {shown} and {hidden}", offer.variant);
        }
    }
}
