//! Rules that are wrong: they cover too much, bind the wrong operand, or pass on another constant.

use std::cell::Cell;
use std::sync::Arc;
use weft_core::contract::{Access, Constant, Constants};
use weft_core::driver::{Claim, Decline, Offered, Options, Site, State};
use weft_core::graph::{NodeId, Op};
use weft_core::kernels;
use weft_core::plan::{Plan, build_with};
use weft_core::replay::interpreted;
use weft_core::rules::Rule;
use weft_tests::devices;
use weft_tests::graphs::misses::{self, Firing, offer};
use weft_tests::graphs::same;
use weft_tests::naive::{interpret, merged};

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
                *port = if *port == a { b } else if *port == b { a } else { port };
            }
        }
        Fault::Later(port) => {
            let bound = claim.operands.iter_mut().filter(|(name, _)| *name == port);
            bound.for_each(|(_, tensor)| tensor.layout.offset += tensor.dtype().block_bytes());
        }
        Fault::Constant(name) => {
            let changed = |all: Constants, (other, value)| match value {
                Constant::Float(value) => all.float(other, if other == name { value * 3.0 + 1.0 } else { value }),
                Constant::Integer(value) => all.integer(other, value + u32::from(other == name)),
            };
            claim.constants = claim.constants.iter().fold(Constants::new(), changed);
        }
    }
    claim
}

/// The plan of a fixture by one broken rule and the kernels of operations.
fn planned(firing: &Firing, fault: Fault) -> Plan {
    BROKEN.set(Some((firing.rule, fault)));
    let Rule { name, root, kernel, .. } = *firing.rule;
    let broken: &'static Rule = Box::leak(Box::new(Rule { name, root, kernel, find }));
    let device = devices::reference();
    let offered = [Offered { name: device.name(), offers: device.offers() }];
    build_with(Arc::clone(&firing.fixture.graph), &offered, &Options::default(), &[broken])
        .unwrap_or_else(|e| panic!("{name} with {fault:?}: {e}"))
}

/// What the driver made of the broken rule at the root where it fires.
fn state(firing: &Firing, plan: &Plan) -> State {
    let attempt = plan.trail.iter().find(|a| a.rule == firing.rule.name && a.root == firing.root);
    attempt.expect("the rule is offered its root").state.clone()
}

#[test]
fn a_rule_that_covers_too_much_is_refused_and_would_compute_something_else() {
    let mut tried = 0;
    for firing in misses::all() {
        let graph = &firing.fixture.graph;
        let claim = offer(firing.rule, graph, firing.root).verdict.unwrap();
        let others = graph.node_ids().filter(|id| graph.node(*id).op != Op::View && !claim.nodes.contains(id));
        for node in others {
            let fault = Fault::Covers(node);
            let plan = planned(&firing, fault);
            let state = state(&firing, &plan);
            assert_eq!(state, State::Matched, "{} with {fault:?}", firing.rule.name);
            let data = firing.fixture.filled(1);
            let want = interpret(graph, &data).unwrap();
            let got = merged(graph, &wrong(claim.clone(), fault), &data);
            let right = got.is_ok_and(|got| same::check(graph, &got, &want, same::tolerance(&plan)).is_ok());
            assert!(!right, "{}: right all the same with {fault:?}", firing.rule.name);
            tried += 1;
        }
    }
    assert!(tried > 20, "{tried} nodes beside claims");
}

/// Whether a fault is noticed: by the driver, or by the result.
fn noticed(firing: &Firing, fault: Fault) -> bool {
    let plan = planned(firing, fault);
    if state(firing, &plan) == State::Matched {
        return true;
    }
    let data = firing.fixture.filled(1);
    let want = interpret(&firing.fixture.graph, &data).unwrap();
    let tolerance = same::tolerance(&plan);
    let got = interpreted(Arc::new(plan), &data);
    !got.is_ok_and(|got| {
        let got = same::Bytes { outputs: &got.outputs, states: &got.states };
        same::check(&firing.fixture.graph, got, &want, tolerance).is_ok()
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

#[test]
fn a_rule_that_passes_on_another_constant_is_noticed() {
    for firing in misses::all() {
        let claim = offer(firing.rule, &firing.fixture.graph, firing.root).verdict.unwrap();
        for (name, _) in claim.constants.iter() {
            let fault = Fault::Constant(name);
            assert!(noticed(&firing, fault), "{} with {fault:?}", firing.rule.name);
        }
    }
}
