//! S29: every guard has a test that notices its absence. Contracts are loosened one constraint at a time; the guards of
//! the driver are listed with the tests that hold them.

use crate::corpus::plans;
use crate::forced::{forced, rule, survives};
use crate::near_layouts;
use std::collections::BTreeSet;
use weft_core::contract::{Allowed, Constants, Contract, Extent};
use weft_core::driver::{self, Scene, Why};
use weft_core::graph::{DType, Layout, NodeId, OpKind};
use weft_core::plan::Plan;
use weft_core::rules::FUSED;
use weft_tests::graphs::delta::Writer;
use weft_tests::graphs::edit::{Change, changed};
use weft_tests::graphs::misses::{self, offer};
use weft_tests::graphs::{Fixture, odd, small, states, without};
use weft_tests::loose::{Loose, loosened};
use weft_tests::{devices, sources};

/// Operands and constants that a contract was asked about.
#[derive(Clone)]
struct Asked {
    operands: Vec<Option<Layout>>,
    constants: Constants,
}

impl Asked {
    /// Whether only the looser contract admits this.
    fn tells_apart(&self, contract: &Contract, loose: &Contract) -> bool {
        contract.check(&self.operands, &self.constants).is_err()
            && loose.check(&self.operands, &self.constants).is_ok()
    }

    /// Neighbours: one layout, one constant or one shared extent away.
    fn near(&self, contract: &Contract) -> Vec<Asked> {
        let mut all = Vec::new();
        for attribute in contract.attributes {
            let near = near_layouts::constants(&self.constants, attribute);
            all.extend(near.into_iter().map(|constants| Asked { constants, ..self.clone() }));
        }
        for at in 0..self.operands.len() {
            let mut with = |operand| {
                let mut asked = self.clone();
                asked.operands[at] = operand;
                all.push(asked);
            };
            let Some(layout) = self.operands[at] else {
                // A port that was left out is bound to something small.
                with(Layout::packed(DType::I32, [1; 4]));
                continue;
            };
            with(None);
            near_layouts::layouts(&layout).into_iter().for_each(|(_, near)| with(Some(near)));
        }
        for symbol in contract.symbols {
            let outside = outside(&symbol.allowed);
            all.extend(outside.into_iter().map(|extent| self.resized(contract, symbol.name, extent)));
        }
        all.extend(contract.ones.iter().map(|(extent, _)| self.resized(contract, extent, 2)));
        // Ports that need each other are left out together.
        for (first, second) in contract.needs.iter().filter(|(a, b)| contract.needs.contains(&(*b, *a))) {
            let mut asked = self.clone();
            let pair = [first, second].into_iter().filter_map(|name| contract.port(name));
            pair.for_each(|at| asked.operands[at] = None);
            all.push(asked);
        }
        all
    }

    /// A named extent changed wherever it occurs, everything packed.
    fn resized(&self, contract: &Contract, name: &'static str, extent: u64) -> Asked {
        let mut asked = self.clone();
        for (port, operand) in contract.ports.iter().zip(&mut asked.operands) {
            let Some(layout) = operand else { continue };
            for dim in (0..4).filter(|d| port.shape[*d] == Extent::Named(name)) {
                layout.shape[dim] = extent;
            }
            (0..4).for_each(|d| layout.strides[d] = layout.packed_stride(d));
        }
        asked
    }
}

/// Extents just outside a range.
fn outside(range: &Allowed) -> Vec<u64> {
    match range {
        Allowed::Between(low, high) => vec![low.saturating_sub(1), high + 1],
        Allowed::MultipleOf(step, most) => vec![step + 1, most + step],
        Allowed::OneOf(values) => values.iter().map(|value| value + 1).collect(),
        Allowed::DivisorOf(_) => (2..20).collect(),
    }
}

fn inside(range: &Allowed, extent: u64) -> bool {
    match range {
        Allowed::Between(low, high) => (*low..=*high).contains(&extent),
        Allowed::MultipleOf(step, most) => extent > 0 && extent.is_multiple_of(*step) && extent <= *most,
        Allowed::OneOf(values) => values.contains(&extent),
        Allowed::DivisorOf(_) => true,
    }
}

/// Why a constraint cannot be noticed, if that is so: it asks for nothing.
fn says_nothing(contract: &Contract, what: &str) -> Option<&'static str> {
    let named = |name: &str| {
        let occurs = |extent: &Extent| match extent {
            Extent::Named(n) | Extent::Repeats(n) | Extent::AtLeast(n) => *n == name,
            Extent::Product(a, b) => *a == name || *b == name,
            Extent::Any | Extent::Is(_) => false,
        };
        contract.ports.iter().flat_map(|port| &port.shape).filter(|extent| occurs(extent)).count()
    };
    for port in contract.ports {
        if !port.optional && what.starts_with(&format!("{} beside ", port.name)) {
            return Some("the port must be there in any case");
        }
        if port.dtypes.is_empty()
            && what.ends_with(&format!(" of {}", port.name))
            && !what.starts_with("type")
        {
            return Some("no type is admitted: the port must be left out");
        }
        for dim in 0..4 {
            if what == format!("stride {dim} of {}", port.name) && port.shape[dim] == Extent::Is(1) {
                return Some("strides of an extent of one are never used");
            }
            if let Extent::Named(name) = port.shape[dim]
                && what == format!("extent {dim} of {}", port.name)
                && named(name) == 1
            {
                return Some("a name that occurs once binds nothing; it is there to be read");
            }
        }
    }
    if contract.symbols.iter().any(|symbol| what.starts_with(&format!("{} of one beside ", symbol.name))) {
        return Some("the extent has a range of its own");
    }
    let symbols = || contract.symbols.iter().enumerate();
    let (at, symbol) = symbols().find(|(at, s)| what == format!("range {at} of {}", s.name))?;
    if named(symbol.name) == 0 {
        return Some("no port has the extent; the range is shared with a sister kernel");
    }
    let admitted = |extent: &u64| {
        let others = symbols().filter(|(other, s)| *other != at && s.name == symbol.name);
        others.map(|(_, s)| s).all(|s| inside(&s.allowed, *extent))
    };
    let apart = outside(&symbol.allowed).iter().any(admitted);
    (!apart).then_some("a narrower range of the same extent stands beside it")
}

/// Good operands of every offered variant of a fused kernel: what it was given in the plans of all fixtures.
fn given(plans: &[Plan], kernel: &str, variant: &str) -> Vec<Asked> {
    let dispatches = plans.iter().flat_map(|plan| &plan.dispatches);
    let mut all: Vec<Asked> = Vec::new();
    for dispatch in dispatches.filter(|d| d.kernel == kernel && d.variant == variant) {
        let operands: Vec<_> = dispatch.bindings.iter().map(|b| b.map(|b| b.tensor.layout)).collect();
        let ports = |of: &[Option<Layout>]| of.iter().map(Option::is_some).collect::<Vec<_>>();
        let alike = all.iter().filter(|asked| ports(&asked.operands) == ports(&operands)).count();
        if alike < 12 && !all.iter().any(|asked| asked.operands == operands) {
            all.push(Asked { operands, constants: dispatch.constants.clone() });
        }
    }
    all
}

/// What the rules of a kernel propose on near misses of their fixtures, in the order of the contract's ports.
fn proposed(contract: &Contract) -> Vec<Asked> {
    let mut all = Vec::new();
    for firing in misses::all().into_iter().filter(|f| f.rule.kernel == contract.kernel) {
        for miss in firing.misses() {
            let Ok(claim) = offer(firing.rule, &miss.graph, miss.root).verdict else { continue };
            let of = |name: &str| claim.operands.iter().find(|(n, _)| *n == name).map(|(_, t)| t.layout);
            let operands = contract.ports.iter().map(|port| of(port.name)).collect();
            all.push(Asked { operands, constants: claim.constants });
        }
    }
    all
}

#[test]
fn every_constraint_of_a_fused_contract_is_noticed_when_it_is_gone() {
    let device = devices::complete();
    let plans = plans();
    let fused: BTreeSet<&str> = FUSED.iter().map(|rule| rule.kernel).collect();
    let (mut constraints, mut by_graphs) = (0, 0);
    let mut idle = Vec::new();
    for offer in device.offers().iter().filter(|offer| fused.contains(offer.contract.kernel)) {
        let contract = offer.contract;
        let misses = proposed(contract);
        let given = given(&plans, contract.kernel, offer.variant);
        assert!(!given.is_empty(), "{}/{} never ran", contract.kernel, offer.variant);
        let near: Vec<Asked> = given.iter().flat_map(|asked| asked.near(contract)).collect();
        for Loose { what, contract: loose } in loosened(contract) {
            if says_nothing(contract, &what).is_some() {
                continue;
            }
            constraints += 1;
            if misses.iter().any(|asked| asked.tells_apart(contract, &loose)) {
                by_graphs += 1;
            } else if !near.iter().any(|asked| asked.tells_apart(contract, &loose)) {
                idle.push(format!("{}/{}: {what}", contract.kernel, offer.variant));
            }
        }
    }
    assert!(idle.is_empty(), "nobody notices when these are gone: {idle:#?}");
    assert!(constraints > 500 && by_graphs > 40, "{constraints} constraints, {by_graphs} noticed by graphs");
}

/// A guard of the driver, a graph on which a rule proposes what only this guard refuses, and where.
struct Guard {
    reason: &'static str,
    fixture: Fixture,
    rule: &'static str,
    root: &'static str,
}

fn guards() -> Vec<Guard> {
    let layer = small::SQUARE.fixture("layer");
    let changed_at = |label: &str, change: Change| {
        let made = changed(&layer.graph, layer.node(label), &change).expect("a legal graph");
        layer.with(label, made.graph)
    };
    let net = |reason, fixture| Guard { reason, fixture, rule: "gdn_core", root: "net" };
    vec![
        net("Escapes", changed_at("q_norm", Change::Reader)),
        net("IsOutput", changed_at("decay", Change::Output)),
        Guard {
            reason: "WriteBetween",
            fixture: states::whole(Writer::Copied, None),
            rule: "gdn_core_in_place",
            root: "net",
        },
        Guard {
            reason: "Between",
            fixture: odd::weight_of_its_own_sum(),
            rule: "add_rms_norm",
            root: "norm",
        },
        Guard { reason: "OwnResult", fixture: odd::square_of_a_gate(), rule: "swiglu", root: "act" },
        Guard { reason: "InputUnbound", fixture: odd::changing_projection(), rule: "gdn_layer", root: "net" },
        Guard { reason: "Overlap", fixture: odd::product_over_its_gate(), rule: "swiglu", root: "act" },
    ]
}

#[test]
fn every_guard_of_the_driver_stands_between_a_proposal_and_a_wrong_result() {
    for Guard { reason, fixture, rule, root } in guards() {
        let plan = fixture.plan(&[devices::reference()], &without(&[])).unwrap();
        let node = fixture.node(root);
        let attempt = plan.trail.iter().find(|a| a.rule == rule && a.root == node).expect(rule);
        let why = format!("{:?}", attempt.declines.last().expect(reason).why);
        assert!(why.starts_with(reason), "{}: {why}", fixture.name);
        let claim = forced(&fixture, rule, root);
        assert!(!survives(&fixture, &claim), "{}: right all the same, without {reason}", fixture.name);
    }
}

#[test]
fn a_node_claimed_twice_is_found_by_the_cover_check() {
    let fixture = odd::two_norms_of_one_sum();
    let scene = Scene::new(&fixture.graph);
    let norms = fixture.graph.node_ids().filter(|id| fixture.graph.node(*id).op.kind() == OpKind::RmsNorm);
    let claims: Vec<Vec<NodeId>> =
        norms.map(|root| offer(rule("add_rms_norm"), &fixture.graph, root).verdict.unwrap().nodes).collect();
    let sum = fixture.node("sum");
    assert_eq!(driver::cover(&scene, claims.iter().map(Vec::as_slice)), Err(vec![(sum, 2)]));
    let plan = fixture.plan(&[devices::reference()], &without(&[])).unwrap();
    let taken = plan.trail.iter().flat_map(|a| &a.declines).any(|d| matches!(d.why, Why::Taken { .. }));
    assert!(taken, "the driver refuses the second claim");
}

/// Guards outside the driver, and the tests that fail without them.
const HELD_BY: [(&str, &str); 16] = [
    (
        "a view between two links shows the whole value",
        "a_walk_that_looks_through_every_view_computes_something_else",
    ),
    ("a reader takes the whole value", "views_that_rearrange_inner_values_are_seen"),
    ("copied states are the newest, in order", "a_turned_copy_of_states_is_not_the_states"),
    ("a node that is two links counts once", "one_norm_may_serve_as_query_and_as_key"),
    (
        "a scatter shows the bytes it keeps",
        "a_driver_that_forgets_what_a_scatter_keeps_computes_something_else",
    ),
    ("outputs are not overwritten", "an_output_is_what_its_version_says"),
    (
        "order follows ranges and versions",
        "unfused_random_programs_equal_the_sequential_interpreter_bit_for_bit",
    ),
    ("the list's order does not count", "the_order_of_the_node_list_does_not_matter"),
    ("disjoint ranges are not ordered", "sequences_at_interleaved_ranges_do_not_wait_for_each_other"),
    ("a fused claim stays on one device", "a_cut_at_any_node_leaves_fused_claims_right"),
    ("copies at splits bring what is read later", "a_cut_at_any_node_changes_nothing"),
    ("views do not choose a device", "views_never_cause_a_cut"),
    (
        "a failed dispatch is not claimed again",
        "a_rule_whose_dispatch_never_builds_is_given_back_and_the_reason_kept",
    ),
    ("other failures are not retried", "another_failure_than_one_dispatch_is_not_retried"),
    ("exactness leaves fast variants out", "every_reason_is_given_by_some_near_miss"),
    ("each node is covered once", "a_claim_deleted_from_a_good_plan_leaves_exactly_its_nodes_uncovered"),
];

#[test]
fn the_tests_that_hold_the_other_guards_exist() {
    let folders = ["tests/laws", "tests/rules", "tests/plans"];
    let code: String =
        folders.iter().flat_map(|folder| sources::under(folder)).map(|file| file.code).collect();
    for (guard, test) in HELD_BY {
        assert!(code.contains(&format!("fn {test}()")), "{guard}: no test is called {test}");
    }
}
