//! `router`; k is the length of a row of ids.

use crate::check::{draw_case, offers};
use crate::data::{Bench, gather};
use crate::dispatch;
use crate::machines::{self, Machine};
use crate::subject::{Subject, Values, between, is_distinct, values};
use std::collections::BTreeMap;
use weft_core::contract::Constant;
use weft_core::contract::draw::{Case, Draft, Source, Wish};
use weft_tests::Random;
use weft_tests::run::floats;

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

/// Rows by token: NaN throughout, nothing but minus infinity, one NaN, a minus infinity here and there, and two levels, so that
/// experts tie at the cut.
fn odd_rows(_: &Case, _: &mut Random) -> BTreeMap<&'static str, Values> {
    let logit = |[expert, token, ..]: [u64; 4], random: &mut Random| match token % 5 {
        0 => f64::NAN,
        1 => f64::NEG_INFINITY,
        2 if expert == 3 => f64::NAN,
        3 if random.below(3) == 0 => f64::NEG_INFINITY,
        4 => [-1.0, 2.0][random.below(2) as usize],
        _ => f64::from(random.below(1 << 20) as u32) / f64::from(1 << 18),
    };
    values([("logits", Box::new(logit))])
}

/// Ids of every row are the reference's, and NaN shows in the weights of the rows that hold one, and in no other.
#[test]
fn odd_rows_choose_alike_and_stay_in_their_rows() {
    let subject = Subject { complete, values: odd_rows, ..Subject::new("router") };
    let reference = machines::backends().next().expect("a machine");
    let plain = offers(&subject, reference).last().expect("a reference");
    let (ids, weights) = (1, 2);
    for machine in machines::backends() {
        for offer in offers(&subject, machine) {
            let (mut spoilt, mut clean) = (0, 0);
            for attempt in 0..20 {
                let mut random = Random::named("odd rows", attempt << 32 | 9);
                let wish = Wish { tokens: Some(5 + random.below(9)), ..Wish::default() };
                let Some(case) = draw_case(&subject, offer.contract, &wish, 1 << 14, &mut random) else {
                    continue;
                };
                if !is_distinct(&case, "logits") {
                    continue;
                }
                let bench = Bench::new(&subject, case, &mut random).expect("sane data");
                let run = |machine: &Machine, offer| {
                    let after = dispatch::run(&*machine.backend, offer, &bench.case, &bench.storages);
                    let after = after.expect("it runs");
                    [ids, weights].map(|at| gather(&after[at], &bench.case.operands[at].expect("a result")))
                };
                let ([want_ids, want], [got_ids, got]) = (run(reference, plain), run(machine, offer));
                let place = format!("{} on {} attempt {attempt}", offer.variant, machine.name);
                assert_eq!(got_ids, want_ids, "{place}: {:#?}", bench.case.operands);
                for (got, want) in floats(&got).into_iter().zip(floats(&want)) {
                    let alike = if want.is_nan() { got.is_nan() } else { (got - want).abs() <= 2e-5 };
                    assert!(alike, "{place}: got {got}, want {want}: {:#?}", bench.case.operands);
                    spoilt += usize::from(want.is_nan());
                    clean += usize::from(!want.is_nan());
                }
            }
            assert!(spoilt > 20 && clean > 20, "{}: {spoilt} and {clean}", offer.variant);
        }
    }
}
