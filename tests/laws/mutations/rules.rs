//! Rules that are wrong: they cover too much, bind the wrong operand, or pass on another constant.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use weft_core::contract::{Access, Constant, Constants};
use weft_core::driver::{Claim, Decline, Offered, Options, Scene, Site, State};
use weft_core::graph::{Graph, NodeId, Op};
use weft_core::kernels;
use weft_core::plan::{Plan, build_with};
use weft_core::replay::interpreted;
use weft_core::rules::Rule;
use weft_tests::devices;
use weft_tests::graphs::misses::{self, Firing, Miss, offer};
use weft_tests::graphs::same;
use weft_tests::naive::interpret;

/// What is wrong with a claim.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Another node is covered, too.
    Covers(NodeId),
    /// Two ports have each other's tensor.
    Swapped(&'static str, &'static str),
    /// A port has the tensor that begins one element later.
    Later(&'static str),
    /// A constant has another value.
    Constant(&'static str),
}

thread_local! {
    /// The rule that is broken, and how.
    static BROKEN: Cell<Option<(&'static Rule, Fault)>> = const { Cell::new(None) };
}

fn find(site: &Site<'_, '_>) -> Result<Claim, Decline> {
    let (rule, fault) = BROKEN.get().expect("a rule to break");
    (rule.find)(site).map(|claim| wrong(claim, fault))
}

fn wrong(mut claim: Claim, fault: Fault) -> Claim {
    match fault {
        Fault::Covers(node) => return claim.covering(&[node]),
        Fault::Swapped(a, b) => {
            for (port, _) in &mut claim.operands {
                *port = if *port == a {
                    b
                } else if *port == b {
                    a
                } else {
                    port
                };
            }
        }
        Fault::Later(port) => {
            let bound = claim.operands.iter_mut().filter(|(name, _)| *name == port);
            bound.for_each(|(_, tensor)| tensor.layout.offset += tensor.dtype().block_bytes());
        }
        Fault::Constant(name) => {
            let changed = |all: Constants, (other, value)| match value {
                Constant::Float(value) => {
                    all.float(other, if other == name { value * 3.0 + 1.0 } else { value })
                }
                Constant::Integer(value) => all.integer(other, value + u32::from(other == name)),
            };
            claim.constants = claim.constants.iter().fold(Constants::new(), changed);
        }
    }
    claim
}

/// The plan of a graph by one broken rule and the kernels of operations.
fn planned(rule: &'static Rule, graph: &Arc<Graph>, fault: Fault) -> Plan {
    BROKEN.set(Some((rule, fault)));
    let Rule { name, root, kernel, .. } = *rule;
    let broken: &'static Rule = Box::leak(Box::new(Rule { name, root, kernel, find }));
    let device = devices::reference();
    let offered = [Offered { name: device.name(), offers: device.offers() }];
    build_with(Arc::clone(graph), &offered, &Options::default(), &[broken])
        .unwrap_or_else(|e| panic!("{name} with {fault:?}: {e}"))
}

/// What the driver made of a rule at a root.
fn state(plan: &Plan, rule: &Rule, root: NodeId) -> State {
    let attempt = plan.trail.iter().find(|a| a.rule == rule.name && a.root == root);
    attempt.expect("the rule is offered its root").state.clone()
}

#[test]
fn a_rule_that_covers_too_much_is_refused() {
    let mut refused = 0;
    for firing in misses::all() {
        let rule = firing.rule;
        for Miss { name, graph, root } in firing.misses() {
            let Ok(claim) = offer(rule, &graph, root).verdict else { continue };
            let beside = |id: &NodeId| graph.node(*id).op != Op::View && !claim.nodes.contains(id);
            for node in graph.node_ids().filter(beside) {
                let fault = Fault::Covers(node);
                let plan = planned(rule, &graph, fault);
                if state(&plan, rule, root) == State::Matched {
                    refused += 1;
                    continue;
                }
                // Accepted: then nobody outside needs what is covered, and only results can tell a link from a stranger.
                let scene = Scene::new(&graph);
                let mut readers = scene.dependencies.readers(node).map(|edge| edge.node);
                let inner = readers.all(|reader| claim.nodes.contains(&reader));
                assert!(inner, "{name} with {fault:?}");
            }
        }
    }
    assert!(refused > 100, "{refused} nodes beside claims");
}

/// Whether a fault is noticed: by the driver, or by the result.
fn noticed(firing: &Firing, fault: Fault) -> bool {
    let plan = planned(firing.rule, &firing.fixture.graph, fault);
    if state(&plan, firing.rule, firing.root) == State::Matched {
        return true;
    }
    let data = firing.fixture.filled(1);
    let want = interpret(&firing.fixture.graph, &data).unwrap();
    let tolerance = same::tolerance(&plan);
    // A reference trusts its rule: it may run into a wall.
    let got = catch_unwind(AssertUnwindSafe(|| interpreted(Arc::new(plan), &data)));
    !got.is_ok_and(|got| {
        got.is_ok_and(|got| {
            let got = same::Bytes { outputs: &got.outputs, states: &got.states };
            same::check(&firing.fixture.graph, got, &want, tolerance).is_ok()
        })
    })
}

/// Ports whose operands are added or multiplied with each other.
const EITHER_WAY: &[(&str, &str, &str)] = &[("add_rms_norm", "a", "b")];

#[test]
fn a_rule_that_exchanges_two_operands_is_noticed() {
    let mut tried = 0;
    for firing in misses::all() {
        let claim = offer(firing.rule, &firing.fixture.graph, firing.root).verdict.unwrap();
        for (at, (a, first)) in claim.operands.iter().enumerate() {
            for (b, second) in &claim.operands[at + 1..] {
                let either_way = EITHER_WAY.contains(&(firing.rule.name, a, b));
                if first.layout.shape != second.layout.shape || first == second || either_way {
                    continue;
                }
                let fault = Fault::Swapped(a, b);
                assert!(noticed(&firing, fault), "{} with {fault:?}", firing.rule.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 20, "{tried} pairs of operands");
}

#[test]
fn a_rule_that_binds_the_next_element_is_noticed() {
    for firing in misses::all() {
        let claim = offer(firing.rule, &firing.fixture.graph, firing.root).verdict.unwrap();
        let contract = &kernels::by_stem(claim.kernel).unwrap().contract;
        for (port, _) in &claim.operands {
            let read = contract.ports[contract.port(port).unwrap()].access != Access::Write;
            let fault = Fault::Later(port);
            assert!(!read || noticed(&firing, fault), "{} with {fault:?}", firing.rule.name);
        }
    }
}

/// Constants that change nothing in these fixtures: both maps of heads are one where there are as many value heads as key heads,
/// YaRN is off, the rotary embedding has no sections, and how many experts are chosen is an extent, too.
const IDLE: [&str; 8] =
    ["heads", "k", "yarn_mix", "yarn_context", "section_t", "section_h", "section_w", "section_e"];

#[test]
fn a_rule_that_passes_on_another_constant_is_noticed() {
    for firing in misses::all() {
        let claim = offer(firing.rule, &firing.fixture.graph, firing.root).verdict.unwrap();
        for (name, _) in claim.constants.iter().filter(|(name, _)| !IDLE.contains(name)) {
            let fault = Fault::Constant(name);
            assert!(noticed(&firing, fault), "{} with {fault:?}", firing.rule.name);
        }
    }
}
