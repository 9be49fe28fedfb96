//! `gdn_core_in_place`: the gather of the old states and the copy of the new ones join the delta net.

use crate::expect::{fires, near, refuses, right};
use weft_core::driver::Why;
use weft_core::graph::OpKind;
use weft_tests::graphs::delta::{Layer, SMALL, States, Writer, whole_pool};
use weft_tests::graphs::edit::{Between, Change};
use weft_tests::graphs::small::SQUARE;
use weft_tests::graphs::{Fixture, claims, segmented, states};

const RULE: &str = "gdn_core_in_place";

fn fixture() -> Fixture {
    Layer { states: whole_pool(1), ..SQUARE }.fixture("pool")
}

#[test]
fn fires_on_a_pool_that_is_updated_whole() {
    fires(&fixture(), RULE, 1);
    for seqs in 1..=4 {
        for snapshots in [1, 4] {
            let layer = Layer { states: whole_pool(seqs), seqs, snapshots, tokens: 5, ..SMALL };
            fires(&layer.fixture(format!("S {seqs}, K {snapshots}")), RULE, 1);
        }
    }
}

#[test]
fn fires_behind_a_cleared_slot() {
    for fresh in [None, Some(0), Some(1)] {
        fires(&states::whole(Writer::Nobody, fresh), RULE, 1);
    }
}

#[test]
fn a_part_of_a_larger_pool_is_never_updated_wrongly() {
    for writer in [Writer::Nobody, Writer::Copied, Writer::Elsewhere] {
        for fresh in [None, Some(1), Some(2)] {
            right(&states::pool(writer, fresh));
        }
    }
}

#[test]
fn declines_states_that_do_not_come_from_a_gather() {
    refuses(&SQUARE.fixture("given"), RULE, "net", |why| *why == Why::Missing { source: 5 });
    let copied = near(&fixture(), "net", Change::Via(5, Between::Copy));
    refuses(&copied, RULE, "net", |why| *why == Why::Op { want: OpKind::GetRows, got: OpKind::Cast });
    let turned = near(&fixture(), "net", Change::Via(5, Between::Turned));
    refuses(&turned, RULE, "net", |why| *why == Why::Rearranged { source: 5 });
    let layer = segmented::one(3).fixture("segments");
    let off = weft_tests::graphs::without(&["gdn_layer"]);
    let plan = layer.plan(&[weft_tests::devices::reference()], &off).unwrap();
    assert_eq!(crate::expect::reason(&plan, RULE, "net"), Some(Why::Unexpected { source: 6 }));
}

#[test]
fn declines_new_states_that_do_not_go_back() {
    let copied = near(&fixture(), "copy", Change::Via(0, Between::Copy));
    refuses(
        &copied,
        RULE,
        "net",
        |why| matches!(why, Why::NoOperand { want: OpKind::Copy, found } if found.contains(&OpKind::Cast)),
    );
}

#[test]
fn declines_a_writer_between_gather_and_copy() {
    for fresh in [None, Some(0)] {
        let fixture = states::whole(Writer::Copied, fresh);
        let writer = fixture.node("writer");
        refuses(&fixture, RULE, "net", |why| *why == Why::WriteBetween { writer, port: "state" });
    }
    let early = near(&fixture(), "gather", Change::Writer(0));
    fires(&early, RULE, 1);
}

#[test]
fn declines_when_the_gathered_states_are_wanted_elsewhere() {
    refuses(&near(&fixture(), "gather", Change::Reader), RULE, "net", |why| {
        matches!(why, Why::Escapes { .. })
    });
    refuses(&near(&fixture(), "gather", Change::Output), RULE, "net", |why| {
        matches!(why, Why::IsOutput { .. })
    });
    // Outputs and new states are produced.
    fires(&near(&fixture(), "net", Change::Reader), RULE, 1);
}

#[test]
fn an_older_snapshot_is_not_the_newest_state() {
    // With four snapshots the copy of the second plane is no copy of the newest states.
    let layer = Layer { snapshots: 4, tokens: 6, states: whole_pool(1), ..SQUARE };
    let fixture = layer.fixture("four snapshots");
    let mut graph = (*fixture.graph).clone();
    let states = graph.nodes[fixture.node("states").index()].results[0];
    graph.tensors[states.index()].layout.offset += layer.state() * 4;
    graph.verify().unwrap();
    let older = fixture.with("the second plane", graph);
    refuses(&older, RULE, "net", |why| matches!(why, Why::NotSame { .. }));
}

#[test]
fn the_smaller_rule_takes_what_this_one_refuses() {
    let fixture = states::whole(Writer::Copied, None);
    let plan = crate::expect::planned(&fixture.graph);
    assert_eq!((claims(&plan, RULE), claims(&plan, "gdn_core")), (0, 1));
    let elsewhere = Layer { states: States::Given, ..SQUARE }.fixture("given");
    assert_eq!(claims(&crate::expect::planned(&elsewhere.graph), "gdn_core"), 1);
}
