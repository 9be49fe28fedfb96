//! `gdn_layer`: segments over pools of histories and states.

use crate::gated_delta_net::snapshots;
use crate::segments;
use crate::subject::{Subject, between, factors, is_distinct, values};
use weft_core::contract::Constant;
use weft_core::contract::draw::{Draft, Source};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: |case, random| {
        let [_, rows, ..] = case.layout("x").map_or([1; 4], |x| x.shape);
        let [.., slots, _] = case.layout("history").map_or([1; 4], |history| history.shape);
        let [.., planes] = case.layout("state").map_or([1; 4], |state| state.shape);
        let snapshots = snapshots(case);
        let slots = slots.min(planes / snapshots);
        let table = segments::table(case, rows, slots, snapshots, random);
        values([
            // q, k and v are sums of their products.
            ("x", factors(case, "state")),
            ("conv", factors(case, "state")),
            ("a", between(-0.5, 0.0)),
            ("history", segments::history(&table, is_distinct(case, "history"))),
            (
                "state",
                segments::states(&table, snapshots, is_distinct(case, "state"), factors(case, "state")),
            ),
            ("segments", segments::words(&table)),
        ])
    },
    unequal: &["history"],
    elements: 1 << 16,
    ..Subject::new("gdn_layer")
};

/// Channels are those of q, k and v; the history is at least as long as the taps reach back.
fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    let heads = draft.extent("H");
    let divisors: Vec<u64> = (1..=heads).filter(|d| heads.is_multiple_of(*d)).collect();
    let key_heads = source.pick(&divisors).unwrap_or(1);
    let taps = 1 + source.below(4);
    let slots = 1 + source.below(3);
    draft.set_constant("key_heads", Constant::Integer(key_heads as u32));
    draft.set_extent("C", draft.extent("D") * (2 * key_heads + heads));
    draft.set_extent("taps", taps);
    draft.set_open("history", 0, taps - 1 + source.below(2) * source.below(5));
    // As when many sequences go on together, though few of them have tokens.
    if source.one_in(3) {
        draft.set_open("segments", 1, draft.extent("T").max(64));
    }
    // One pool may be larger than the other.
    draft.set_open("history", 2, slots + source.below(2));
    draft.set_open("state", 3, (slots + source.below(2)) * u64::from(draft.integer("snapshots")));
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
