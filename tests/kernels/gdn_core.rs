//! `gdn_core` with its state as an operand, gathered from a pool, and in a pool by segment.

use crate::coverage::Refusal;
use crate::gated_delta_net::{leaves_rows, result, table};
use crate::segments;
use crate::subject::{Subject, below, between, factors, is_distinct, values};
use weft_core::contract::draw::{Draft, Source};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: |case, random| {
        let planes = |port| case.layout(port).map_or(u64::MAX, |pool| pool.shape[3]);
        let smaller = if planes("state_out") < planes("state") { "state_out" } else { "state" };
        let (table, snapshots) = table(case, smaller, random);
        let state = if case.layout("segments").is_some() {
            segments::states(&table, snapshots, is_distinct(case, "state"), factors(case, "v"))
        } else {
            factors(case, "v")
        };
        values([
            ("q", factors(case, "v")),
            ("k", factors(case, "v")),
            ("v", factors(case, "v")),
            ("a", between(-0.5, 0.0)),
            ("rows", below(planes("state"))),
            ("state", state),
            ("state_out", segments::no_states(snapshots)),
            ("segments", segments::words(&table)),
        ])
    },
    leaves_rows,
    single: &[("out", 3)],
    // In graphs the states go back where they came from; a gather is another rule's.
    shadowed: &[
        Refusal::Type("rows"),
        Refusal::Alignment("state_out"),
        Refusal::Stride("state_out", 0),
        Refusal::Stride("state_out", 1),
        Refusal::Stride("state_out", 2),
        Refusal::Stride("state_out", 3),
    ],
    elements: 1 << 16,
    ..Subject::new("gdn_core")
};

fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    let segmented = draft.is_bound("segments");
    let snapshots = u64::from(draft.integer("snapshots"));
    if segmented {
        draft.bind("rows", false);
    }
    result(draft, segmented);
    // One pool may be larger than the other; without a gather there is one state per sequence.
    let least = if segmented { snapshots * (1 + source.below(3)) } else { draft.extent("S") };
    let mut more = || if source.one_in(2) { 0 } else { 1 + source.below(3) };
    draft.set_open("state", 3, least + if segmented || draft.is_bound("rows") { more() } else { 0 });
    draft.set_open("state_out", 3, least + more());
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
