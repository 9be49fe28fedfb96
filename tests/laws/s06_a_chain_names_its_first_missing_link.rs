//! S6: a rule whose chain is broken names the link and what stood there.

use std::collections::HashMap;
use weft_core::driver::Why;
use weft_core::graph::{NodeId, OpKind};
use weft_tests::devices;
use weft_tests::graphs::gates::{self, Fault, Link};
use weft_tests::graphs::misses::{self, STRANGER, offer};
use weft_tests::graphs::{claims, delta, without};

/// Where the refusal points and what it saw there.
fn stood(why: &Why) -> Option<OpKind> {
    match why {
        Why::Op { got, .. } => Some(*got),
        Why::NoOperand { found, .. } => found.contains(&STRANGER.kind()).then(|| STRANGER.kind()),
        _ => None,
    }
}

#[test]
fn each_link_replaced_by_a_stranger_is_named() {
    for firing in misses::all() {
        let mut steps = Vec::new();
        let links = firing.links();
        for (link, miss) in firing.replaced().into_iter().filter(|(link, _)| *link != firing.root) {
            let said = offer(firing.rule, &miss.graph, miss.root);
            let decline = said.verdict.expect_err(&miss.name);
            let at_link = decline.node == link;
            let beside = links.contains(&decline.node) && matches!(decline.why, Why::NoOperand { .. });
            assert!(at_link || beside, "{}: {decline}", miss.name);
            assert_eq!(stood(&decline.why), Some(STRANGER.kind()), "{}: {decline}", miss.name);
            steps.push(decline.step.unwrap());
        }
        assert!(steps.is_sorted(), "{}: later links are named by later steps: {steps:?}", firing.rule.name);
        let distinct: std::collections::BTreeSet<u32> = steps.iter().copied().collect();
        assert_eq!(distinct.len(), steps.len(), "{}: each link has a step of its own", firing.rule.name);
    }
}

#[test]
fn the_first_of_several_missing_links_is_named() {
    for firing in misses::all() {
        let links: Vec<NodeId> = firing.links().into_iter().filter(|l| *l != firing.root).collect();
        let alone: HashMap<NodeId, u32> = firing
            .replaced()
            .into_iter()
            .filter(|(link, _)| *link != firing.root)
            .map(|(link, miss)| {
                (link, offer(firing.rule, &miss.graph, miss.root).verdict.unwrap_err().step.unwrap())
            })
            .collect();
        for pair in links.windows(2) {
            let mut graph = (*firing.fixture.graph).clone();
            pair.iter().for_each(|link| graph.nodes[link.index()].op = STRANGER);
            let decline = offer(firing.rule, &graph, firing.root).verdict.unwrap_err();
            assert_eq!(decline.step.unwrap(), alone[&pair[0]], "{}: {decline}", firing.rule.name);
        }
    }
}

/// What the core rule says to a gate chain with this fault.
fn of_chain(fault: Option<(Link, Fault)>) -> Option<Why> {
    let fixture = gates::fixture(fault);
    let plan = fixture.plan(&[devices::reference()], &without(&[])).unwrap();
    let taken = claims(&plan, "gdn_core") == 1;
    let attempt = plan.trail.iter().find(|a| a.rule == "gdn_core").unwrap();
    (!taken).then(|| attempt.declines.last().unwrap().why.clone())
}

#[test]
fn a_gate_chain_without_a_link_names_what_stands_in_its_place() {
    let missing = |link| of_chain(Some((link, Fault::Missing)));
    assert_eq!(of_chain(None), None);
    assert_eq!(missing(Link::Project), None, "whatever makes the raw decay is not part of the claim");
    assert_eq!(missing(Link::Reshape), None, "the shape of the raw decay is the contract's matter");
    let sum = OpKind::Binary;
    assert!(matches!(missing(Link::Shift), Some(Why::Op { want: OpKind::Binary, got: OpKind::MulMat })));
    assert_eq!(missing(Link::Soften), Some(Why::Op { want: OpKind::Unary, got: sum }));
    assert_eq!(missing(Link::Scale), Some(Why::Op { want: OpKind::Binary, got: OpKind::Unary }));
    assert_eq!(missing(Link::Place), None);
}

#[test]
fn a_gate_chain_with_a_doubled_link_names_the_second() {
    let doubled = |link| of_chain(Some((link, Fault::Doubled)));
    assert_eq!(doubled(Link::Shift), None, "the first of two sums is the raw decay's own");
    assert_eq!(doubled(Link::Soften), Some(Why::Op { want: OpKind::Binary, got: OpKind::Unary }));
    assert_eq!(doubled(Link::Scale), Some(Why::Op { want: OpKind::Unary, got: OpKind::Binary }));
}

#[test]
fn a_gate_chain_with_a_shared_link_names_the_other_reader() {
    for link in [Link::Shift, Link::Soften, Link::Scale, Link::Place] {
        let why = of_chain(Some((link, Fault::Shared)));
        assert!(matches!(why, Some(Why::Escapes { .. })), "{link:?}: {why:?}");
    }
    for link in [Link::Project, Link::Reshape] {
        assert_eq!(of_chain(Some((link, Fault::Shared))), None, "{link:?}: outside the claim");
    }
}

#[test]
fn a_gate_chain_with_a_view_in_it_is_the_same_chain() {
    for link in gates::LINKS {
        assert_eq!(of_chain(Some((link, Fault::Viewed))), None, "{link:?}");
    }
}

#[test]
fn a_norm_with_a_second_reader_names_it() {
    let layer = delta::SMALL.fixture("layer");
    for label in ["q_norm", "k_norm"] {
        let change = weft_tests::graphs::edit::Change::Reader;
        let made = weft_tests::graphs::edit::changed(&layer.graph, layer.node(label), &change).unwrap();
        let fixture = layer.with(label, made.graph);
        let plan = fixture.plan(&[devices::reference()], &without(&[])).unwrap();
        let attempt = plan.trail.iter().find(|a| a.rule == "gdn_core").unwrap();
        let decline = attempt.declines.last().unwrap();
        assert_eq!(decline.node, fixture.node(label));
        let Why::Escapes { readers } = &decline.why else { panic!("{decline}") };
        assert_eq!(readers.len(), 1, "{readers:?}");
    }
}
