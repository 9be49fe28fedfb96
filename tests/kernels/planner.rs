//! The real planner on the same cases: a variant whose narrower contract refuses them is passed over for exactly that
//! reason, the next one that admits them gives the reference's result.

use crate::check::{draw_case, offers, seed};
use crate::coverage::{self, Refusal};
use crate::data::{self, Bench};
use crate::graphs;
use crate::machines::{self, Machine};
use crate::subject::Subject;
use std::collections::BTreeSet;
use std::sync::Arc;
use weft_core::backend::Offer;
use weft_core::contract::draw::{self, Case, Wish};
use weft_core::contract::{Contract, Port};
use weft_core::driver::{Options, State, Why};
use weft_tests::Random;
use weft_tests::run::{self, Data};

/// Graphs that are run besides those that show a new refusal.
const RUNS: usize = 20;
/// Drafts at most, and how many without a new refusal are enough.
const ATTEMPTS: u64 = 4000;
const PATIENCE: u64 = 1000;
/// Elements of an operand, at most.
const MOST: u64 = 1 << 12;

impl Subject {
    /// Operands that the kernel admits and a variant does not.
    pub fn falls_back(&self) {
        for machine in machines::backends() {
            let last =
                machines::running(machine.backend.name(), offers(self, machine).next().expect("an offer"))
                    .pop();
            self.fall_back_on(last.unwrap_or(machine));
        }
    }

    fn fall_back_on(&self, machine: &'static Machine) {
        let base = &self.reference().contract;
        let all: Vec<&Offer> = offers(self, machine).collect();
        let mut seen: BTreeSet<(&str, Refusal)> = BTreeSet::new();
        let (mut runs, mut last) = (0, 0);
        let sources: Vec<&'static Contract> =
            all.iter().flat_map(|offer| relaxed(base, offer.contract)).collect();
        for attempt in 0..ATTEMPTS {
            if runs >= RUNS && attempt > last + PATIENCE {
                break;
            }
            let mut random = Random::named(self.kernel, seed().wrapping_add(attempt << 32 | 1));
            let contract = sources[attempt as usize % sources.len()];
            let pair = if random.below(2) == 0 { base.may_alias.first() } else { None };
            let wish = Wish { alias: pair.copied(), ..Wish::default() };
            let Some(case) = draw_case(self, contract, &wish, MOST, &mut random) else { continue };
            for case in around(&case, base) {
                let (refusals, chosen) = verdicts(&all, &case);
                let Some(chosen) = chosen else { continue };
                let shown: Vec<_> = refusals.iter().map(|(variant, why)| (*variant, Refusal::of(why))).collect();
                let fresh = shown.iter().any(|refusal| !seen.contains(refusal));
                let place = format!("{}, WEFT_SEED={} attempt {attempt}", self.kernel, seed());
                if (fresh || runs < RUNS) && self.plans(machine, case, (&refusals, chosen), &place, &mut random) {
                    seen.extend(shown);
                    runs += 1;
                    last = if fresh { attempt } else { last };
                }
            }
        }
        println!("{}: {runs} graphs, {} refusals", self.kernel, seen.len());
        for offer in all {
            for refusal in narrowed(self, base, offer.contract) {
                let shown = seen.contains(&(offer.variant, refusal.clone()));
                assert!(shown, "{} {}: no graph was refused for {refusal:?}", self.kernel, offer.variant);
            }
        }
    }

    /// Whether the case is a graph; if so it is planned and run.
    fn plans(
        &self,
        machine: &Machine,
        case: Case,
        (refusals, chosen): (&[(&'static str, Why)], &Offer),
        place: &str,
        random: &mut Random,
    ) -> bool {
        if case.operands.iter().flatten().any(data::is_torn) {
            return false;
        }
        let Some(graph) = graphs::graph(&case).map(Arc::new) else { return false };
        let bench = Bench::new(self, case, random).unwrap_or_else(|e| panic!("{place}: {e}"));
        let mut data: Data = graph
            .storages
            .iter()
            .zip(&bench.storages)
            .map(|(storage, bytes)| (storage.name.clone(), bytes.clone()))
            .collect();
        run::fill(&graph, &mut data, 1);
        let shown =
            || format!("{place} on {}\n{:#?}\n{:?}", machine.name, bench.case.operands, bench.case.constants);
        let backend = Arc::clone(&machine.backend);
        let outcome = run::run(&graph, &[backend], &Options::default(), &data)
            .unwrap_or_else(|error| panic!("{error}\n{}", shown()));
        let plan = &outcome.plan;
        let declines =
            || -> String { plan.trail.iter().map(|a| format!("{} {:?}\n", a.rule, a.declines)).collect() };
        assert_eq!(plan.dispatches.len(), 1, "{}\n{}", declines(), shown());
        let dispatch = &plan.dispatches[0];
        assert_eq!((dispatch.kernel, dispatch.variant), (self.kernel, chosen.variant), "{}", shown());
        let attempt = plan.trail.iter().find(|attempt| attempt.state == State::Executable { dispatch: 0 });
        let declines = &attempt.expect("an accepted claim").declines;
        let got: Vec<&Why> = declines.iter().map(|decline| &decline.why).collect();
        let want: Vec<&Why> = refusals.iter().map(|(_, why)| why).collect();
        assert_eq!(got, want, "{}", shown());
        let after: Vec<Vec<u8>> = bench
            .case
            .draft
            .contract
            .ports
            .iter()
            .map(|port| outcome.states.get(port.name).cloned().unwrap_or_default())
            .zip(&bench.storages)
            // A storage that no tensor touches is not brought to the device.
            .map(|(after, before)| if after.is_empty() { before.clone() } else { after })
            .collect();
        if let Err(why) = bench.compare(&after, chosen.contract.tolerance) {
            panic!("{why}\n{}", shown());
        }
        true
    }
}

/// The case, and its neighbours that only a narrower contract refuses. Ports on the same bytes keep equal layouts.
fn around(case: &Case, base: &'static Contract) -> Vec<Case> {
    let mut all = vec![case.clone()];
    for neighbour in draw::neighbours(case) {
        let mut constants = neighbour.constants.clone();
        let equal = |(at, home): (usize, &usize)| neighbour.operands[at] == neighbour.operands[*home];
        let legal = base.check(&neighbour.operands, &constants).is_ok()
            && base.derive(&neighbour.operands, &mut constants).is_ok();
        if legal && case.homes.iter().enumerate().all(equal) {
            all.push(Case { operands: neighbour.operands, constants: neighbour.constants, ..case.clone() });
        }
    }
    all
}

/// A variant's contract, and versions of it with some of the kernel's own freedom: in extents, and in one port each.
fn relaxed(base: &'static Contract, narrow: &'static Contract) -> Vec<&'static Contract> {
    let mut all = vec![narrow];
    let optional = |(wide, port): (&Port, &Port)| Port { optional: wide.optional, ..*port };
    let ports: Vec<Port> = base.ports.iter().zip(narrow.ports).map(optional).collect();
    let shapes = ports.iter().zip(base.ports).map(|(port, wide)| {
        if port.dtypes.is_empty() { *wide } else { Port { shape: wide.shape, ..*port } }
    });
    let shapes: Vec<Port> = shapes.collect();
    all.push(Box::leak(Box::new(Contract { ports: shapes.leak(), ..*base })));
    for at in (0..ports.len()).filter(|at| base.ports[*at] != narrow.ports[*at]) {
        let mut ports = ports.clone();
        ports[at] = Port { shape: ports[at].shape, ..base.ports[at] };
        all.push(Box::leak(Box::new(Contract { ports: ports.leak(), ..*narrow })));
    }
    all
}

/// What each variant says up to the first that admits the case.
fn verdicts<'o>(offers: &[&'o Offer], case: &Case) -> (Vec<(&'static str, Why)>, Option<&'o Offer>) {
    let mut refusals = Vec::new();
    for offer in offers {
        let mut constants = case.constants.clone();
        let checked = offer.contract.check(&case.operands, &constants).map(|_| ());
        match checked.and_then(|()| offer.contract.derive(&case.operands, &mut constants)) {
            Ok(()) => return (refusals, Some(offer)),
            Err(why) => refusals.push((offer.variant, why)),
        }
    }
    (refusals, None)
}

/// Refusals of a variant that its kernel's own contract does not know, but for those that no graph can show.
fn narrowed(subject: &Subject, base: &Contract, narrow: &Contract) -> BTreeSet<Refusal> {
    let wide = coverage::refusals(base, subject);
    let ports = |name| base.port(name).map(|at| (&base.ports[at], &narrow.ports[at])).expect("a port of both");
    let differs = |refusal: &Refusal| match *refusal {
        Refusal::Type(name) => ports(name).0.dtypes != ports(name).1.dtypes,
        Refusal::Stride(name, dim) => ports(name).0.strides[dim] != ports(name).1.strides[dim],
        Refusal::Extent(name, dim) => ports(name).0.shape[dim] != ports(name).1.shape[dim],
        _ => !wide.contains(refusal),
    };
    let mut all = coverage::refusals(narrow, subject);
    all.retain(|refusal| differs(refusal) && !subject.shadowed.contains(refusal));
    all
}
