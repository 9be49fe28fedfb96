//! S20: each regression fixture fails against the fault that it is for. The faults are put back here: a walk by identity,
//! a matcher that loses its claim over an elided view, a plain kernel that stands aside, a driver that does not look.

use crate::forced::{forced, rule, survives};
use std::collections::{HashMap, HashSet};
use weft_core::driver::{self, Claim, Scene};
use weft_core::graph::{Dependencies, Graph, NodeId, Op, OpKind, TensorId, Use};
use weft_core::plan::PlanError;
use weft_core::rules::SINGLE;
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::casts::{self, Cast};
use weft_tests::graphs::delta::{self, Writer};
use weft_tests::graphs::edit::{Between, Change, changed, folded};
use weft_tests::graphs::misses::{self, offer};
use weft_tests::graphs::{Fixture, claims, masks, odd, sharing, states, without};

/// How many nodes become ready when a node waits for whoever made the tensors that it names.
fn ready_by_identity(graph: &Graph) -> usize {
    let makers: HashMap<TensorId, NodeId> = graph
        .node_ids()
        .filter(|id| graph.node(*id).op != Op::View)
        .flat_map(|id| graph.node(id).results.iter().map(move |result| (*result, id)))
        .collect();
    let waits = |id: NodeId| -> Vec<NodeId> {
        graph.node(id).sources.iter().flatten().filter_map(|source| makers.get(source).copied()).collect()
    };
    let mut ready: HashSet<NodeId> = HashSet::new();
    loop {
        let next: Vec<NodeId> = graph
            .node_ids()
            .filter(|id| !ready.contains(id) && waits(*id).iter().all(|maker| ready.contains(maker)))
            .collect();
        if next.is_empty() {
            return ready.len();
        }
        ready.extend(next);
    }
}

#[test]
fn a_walk_by_identity_stalls_at_a_cast_into_itself() {
    let layer = delta::Layer { states: delta::whole_pool(1), ..delta::SMALL };
    for fixture in [casts::fixture(Cast::IntoSelf), masks::SMALL.then(layer, "attention and layer")] {
        let all = fixture.graph.nodes.len();
        let ready = ready_by_identity(&fixture.graph);
        assert!(ready < all, "{}: {ready} of {all}", fixture.name);
        assert_eq!(Dependencies::of(&fixture.graph).order().unwrap().len(), all);
    }
    let plain = casts::fixture(Cast::Plain);
    assert_eq!(ready_by_identity(&plain.graph), plain.graph.nodes.len(), "only the self-reference stalls it");
}

/// Claims of a planner in which a match keeps a list of the views it passed and is lost if one of them is gone, and in
/// which the plain norm stands aside for a delta net.
fn fragile(fixture: &Fixture, elided: &HashSet<NodeId>) -> Vec<Vec<NodeId>> {
    let graph = &fixture.graph;
    let scene = Scene::new(graph);
    let mut taken: Vec<Vec<NodeId>> = Vec::new();
    let net = fixture.node("net");
    if let Ok(claim) = offer(rule("gdn_core_in_place"), graph, net).verdict {
        let of_claim = |view: &NodeId| {
            let links: Vec<TensorId> = claim
                .nodes
                .iter()
                .flat_map(|node| graph.node(*node).sources.iter().flatten().copied())
                .collect();
            graph.node(*view).results.iter().any(|made| links.contains(made))
        };
        let complete = graph
            .node_ids()
            .filter(|id| graph.node(*id).op == Op::View && of_claim(id))
            .all(|view| !elided.contains(&view));
        if complete {
            taken.push(claim.nodes);
        }
    }
    for id in graph.node_ids().filter(|id| graph.node(*id).op != Op::View) {
        let feeds = |reader: NodeId| graph.node(reader).op.kind() == OpKind::GatedDeltaNet;
        let aside = graph.node(id).op.kind() == OpKind::L2Norm
            && scene.dependencies.readers(id).any(|edge| feeds(edge.node));
        if !aside && !taken.iter().flatten().any(|node| *node == id) {
            taken.push(vec![id]);
        }
    }
    taken
}

#[test]
fn a_matcher_that_loses_its_claim_over_an_elided_view_leaves_the_norms_uncovered() {
    let layer = delta::Layer { states: delta::whole_pool(1), epilogue: None, ..delta::TRUE_SIZE };
    let fixture = layer.graph();
    let scene = Scene::new(&fixture.graph);
    let cover = |elided: &HashSet<NodeId>| {
        let claims = fragile(&fixture, elided);
        driver::cover(&scene, claims.iter().map(Vec::as_slice))
    };
    assert_eq!(cover(&HashSet::new()), Ok(()), "with every view in place nobody notices");
    let gate = HashSet::from([fixture.node("gate_reshape")]);
    let norms = [fixture.node("q_norm"), fixture.node("k_norm")];
    assert_eq!(
        cover(&gate),
        Err(norms.map(|norm| (norm, 0)).to_vec()),
        "one alias elided, and the norms are lost"
    );
    // The planner itself does not care.
    let bare = fixture.with("without views", folded(&fixture.graph, |_| true));
    let plan = bare.plan(&[devices::reference()], &without(&[])).unwrap();
    assert_eq!(claims(&plan, "gdn_core_in_place"), 1);
}

#[test]
fn a_plain_norm_that_stands_aside_leaves_nobody_once_the_rules_are_off() {
    let fixture = delta::SMALL.fixture("layer");
    let aside =
        Faulty::around(devices::reference()).without(|offer| offer.contract.kernel == "l2_norm").shared();
    assert!(
        fixture.plan(&[std::sync::Arc::clone(&aside)], &without(&[])).is_ok(),
        "as long as a rule takes them"
    );
    let off = without(&["gdn_core"]);
    assert!(matches!(fixture.plan(&[aside], &off), Err(PlanError::Uncovered(_))));
    assert!(fixture.plan(&[devices::reference()], &off).is_ok());
}

#[test]
fn carrying_out_an_accepted_claim_is_right() {
    for firing in misses::all() {
        let claim = offer(firing.rule, &firing.fixture.graph, firing.root).verdict.unwrap();
        assert!(survives(&firing.fixture, &claim), "{}", firing.rule.name);
    }
    let fixture = states::whole(Writer::Nobody, None);
    assert!(survives(&fixture, &forced(&fixture, "gdn_core_in_place", "net")));
}

#[test]
fn a_driver_that_does_not_see_a_writer_in_between_computes_something_else() {
    let fixture = states::whole(Writer::Copied, None);
    assert!(!survives(&fixture, &forced(&fixture, "gdn_core_in_place", "net")));
}

#[test]
fn a_driver_that_forgets_what_a_scatter_keeps_computes_something_else() {
    let fixture = sharing::partial_writes();
    assert!(!survives(&fixture, &forced(&fixture, "swiglu", "opened")));
}

#[test]
fn a_driver_that_lets_a_claim_read_its_own_result_computes_something_else() {
    let fixture = odd::square_of_a_gate();
    assert!(!survives(&fixture, &forced(&fixture, "swiglu", "act")));
}

#[test]
fn a_walk_that_looks_through_every_view_computes_something_else() {
    let mut seen = 0;
    for firing in misses::all() {
        let claim = offer(firing.rule, &firing.fixture.graph, firing.root).verdict.unwrap();
        for node in claim.nodes.clone() {
            for index in 0..firing.fixture.graph.node(node).sources.len() {
                for what in [Between::Turned, Between::Repeated] {
                    let Some(made) = changed(&firing.fixture.graph, node, &Change::Via(index, what)) else {
                        continue;
                    };
                    let inner = |id: &NodeId| made.graph.nodes[id.index()].op != Op::View;
                    let source = firing.fixture.graph.node(node).sources[index].unwrap();
                    let scene = Scene::new(&firing.fixture.graph);
                    let writers = scene.writers(firing.fixture.graph.tensor(source));
                    if writers.is_empty() || !writers.iter().all(|w| claim.nodes.contains(w)) {
                        continue;
                    }
                    let nodes = claim.nodes.iter().map(|id| made.nodes[id]).filter(inner).collect();
                    let blind = Claim { nodes, ..claim.clone() };
                    let fixture = firing.fixture.with("through a view", made.graph);
                    seen += usize::from(!survives(&fixture, &blind));
                }
            }
        }
    }
    assert!(seen >= misses::all().len(), "{seen} rearranged inner values changed a result");
}

#[test]
fn the_single_node_rule_is_the_last_resort_for_every_operation() {
    for firing in misses::all() {
        for node in firing.fixture.graph.node_ids() {
            let read = firing.fixture.graph.node(node);
            if read.op == Op::View {
                continue;
            }
            let claim = offer(&SINGLE, &firing.fixture.graph, node).verdict.unwrap();
            let ports = read.op.kind().signature().sources.iter().filter(|p| p.usage == Use::Read).count();
            assert_eq!(claim.nodes, [node]);
            assert!(claim.operands.len() <= ports + read.results.len());
        }
    }
}
