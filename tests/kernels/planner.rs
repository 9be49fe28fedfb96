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
use weft_core::contract::draw::{self, Case, StrideClass, Wish};
use weft_core::contract::{Contract, Port};
use weft_core::driver::{Attempt, Options, State, Why};
use weft_core::plan::Dispatch;
use weft_tests::Random;
use weft_tests::run::{self, Data};

/// Graphs that are run at least.
const RUNS: usize = 30;
/// Drafts before every refusal must have been shown.
const ATTEMPTS: u64 = 20_000;
/// Elements of an operand, at most: a few heads of 32 lanes with some states of 1024 elements each must fit.
const MOST: u64 = 1 << 14;

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
        let sources: Vec<Relaxed> = all.iter().map(|offer| Relaxed::new(base, offer.contract)).collect();
        let of =
            |at: usize| narrowed(self, base, all[at].contract).into_iter().map(move |refusal| (at, refusal));
        let mut missing: BTreeSet<(usize, Refusal)> = (0..all.len()).flat_map(of).collect();
        // A joined kernel may have no variant that takes all: then its parts are planned.
        let in_parts = all.iter().all(|offer| !narrowed(self, base, offer.contract).is_empty());
        let mut runs = 0;
        for attempt in 0..ATTEMPTS {
            if runs >= RUNS && missing.is_empty() {
                break;
            }
            let mut random = Random::named(self.kernel, seed().wrapping_add(attempt << 32 | 1));
            let aim = missing.iter().nth(random.below(missing.len() as u64) as usize);
            let (contract, mut wish) = match aim {
                Some((at, refusal)) => sources[*at].towards(refusal, &mut random),
                None => (all[random.below(all.len() as u64) as usize].contract, Wish::default()),
            };
            wish.alias = if random.below(2) == 0 { base.may_alias.first().copied() } else { None };
            let Some(case) = draw_case(self, contract, &wish, MOST.max(self.elements), &mut random) else {
                continue;
            };
            for case in around(&case, base) {
                let (refusals, chosen) = verdicts(&all, &case);
                if chosen.is_none() && !in_parts {
                    continue;
                }
                let shown: Vec<_> =
                    refusals.iter().enumerate().map(|(at, why)| (at, Refusal::of(why))).collect();
                let fresh = shown.iter().any(|refusal| missing.contains(refusal));
                let place = format!("{}, WEFT_SEED={} attempt {attempt}", self.kernel, seed());
                if (fresh || runs < RUNS)
                    && self.plans(machine, case, (&refusals, chosen), &place, &mut random)
                {
                    missing.retain(|refusal| !shown.contains(refusal));
                    runs += 1;
                }
            }
        }
        println!("{}: {runs} graphs", self.kernel);
        assert!(missing.is_empty(), "{}: no graph was refused for {missing:?}", self.kernel);
    }

    /// Whether the case is a graph; if so it is planned and run.
    fn plans(
        &self,
        machine: &Machine,
        case: Case,
        (refusals, chosen): (&[Why], Option<&Offer>),
        place: &str,
        random: &mut Random,
    ) -> bool {
        if case.operands.iter().flatten().any(data::is_torn) {
            return false;
        }
        let base = &self.reference().contract;
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
        let want: Vec<&Why> = refusals.iter().collect();
        if let Some(chosen) = chosen {
            assert_eq!(plan.dispatches.len(), 1, "{}\n{}", declines(), shown());
            let dispatch = &plan.dispatches[0];
            assert_eq!((dispatch.kernel, dispatch.variant), (self.kernel, chosen.variant), "{}", shown());
            let attempt =
                plan.trail.iter().find(|attempt| attempt.state == State::Executable { dispatch: 0 });
            let declines = &attempt.expect("an accepted claim").declines;
            let got: Vec<&Why> = declines.iter().map(|decline| &decline.why).collect();
            assert_eq!(got, want, "{}", shown());
        } else {
            // Some of the parts may still be joined, by another claim.
            let refused = |attempt: &Attempt| {
                attempt.declines.iter().map(|decline| &decline.why).collect::<Vec<_>>() == want
            };
            assert!(plan.trail.iter().any(refused), "{}\n{}", declines(), shown());
        }
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
        let offers = machine.backend.offers();
        let own =
            |d: &Dispatch| offers.iter().find(|o| (o.contract.kernel, o.variant) == (d.kernel, d.variant));
        let tolerances = plan.dispatches.iter().filter_map(own).map(|offer| offer.contract.tolerance);
        // Parts may be less exact than the whole would be.
        let loosest =
            tolerances.fold(base.tolerance, |most, own| if own.max_abs > most.max_abs { own } else { most });
        let tolerance = chosen.map_or(loosest, |offer| offer.contract.tolerance);
        if let Err(why) = bench.compare(&after, tolerance) {
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

/// A variant's contract, and versions of it with some of the kernel's own freedom.
struct Relaxed {
    narrow: &'static Contract,
    /// In extents, and in what may be left out.
    shapes: &'static Contract,
    /// In one port each: types, strides, alignment.
    ports: Vec<&'static Contract>,
    /// In one port each and those that may share its bytes.
    shared: Vec<&'static Contract>,
}

impl Relaxed {
    fn new(base: &'static Contract, narrow: &'static Contract) -> Self {
        let all = || base.ports.iter().zip(narrow.ports);
        let leak = |ports: Vec<Port>, rest: &Contract| -> &'static Contract {
            Box::leak(Box::new(Contract { ports: ports.leak(), ..*rest }))
        };
        let shape = |(wide, port): (&Port, &Port)| {
            let (shape, optional) = (wide.shape, wide.optional);
            if port.dtypes.is_empty() { *wide } else { Port { shape, optional, ..*port } }
        };
        let free = |at: usize, shared: bool| {
            let name = base.ports[at].name;
            let partner = |(a, b): &(&str, &str), other: &str| {
                (*a == name && *b == other) || (*b == name && *a == other)
            };
            let relax = |(wide, port): (&Port, &Port)| {
                let partner = shared && base.may_alias.iter().any(|pair| partner(pair, port.name));
                if partner || port.name == name { Port { shape: port.shape, ..*wide } } else { *port }
            };
            leak(all().map(relax).collect(), narrow)
        };
        let ports = (0..base.ports.len()).map(|at| free(at, false)).collect();
        let shared = (0..base.ports.len()).map(|at| free(at, true)).collect();
        Relaxed { narrow, shapes: leak(all().map(shape).collect(), base), ports, shared }
    }

    /// A contract and a wish that may lead to a refusal.
    fn towards(&self, refusal: &Refusal, random: &mut Random) -> (&'static Contract, Wish) {
        let of = |port: &str| self.narrow.port(port).expect("a port of the contract");
        let ports = if random.below(2) == 0 { &self.ports } else { &self.shared };
        match *refusal {
            Refusal::Stride(port, dim) => {
                let contract = ports[of(port)];
                let mut classes = draw::classes(contract, of(port), dim);
                classes.retain(|class| *class != StrideClass::Packed);
                let class = if classes.is_empty() { StrideClass::Packed } else { random.pick(&classes) };
                (contract, Wish { classes: vec![(port, dim, class)], ..Wish::default() })
            }
            Refusal::Type(port) | Refusal::Alignment(port) => {
                let contract = ports[of(port)];
                let dtypes = vec![(port, random.pick(contract.ports[of(port)].dtypes))];
                (contract, Wish { dtypes, ..Wish::default() })
            }
            Refusal::Extent(..) | Refusal::Symbol(_) | Refusal::Unbound(_) => (self.shapes, Wish::default()),
            Refusal::Constant(_) | Refusal::Derived(_) => (self.narrow, Wish::default()),
        }
    }
}

/// What each variant says up to the first that admits the case.
fn verdicts<'o>(offers: &[&'o Offer], case: &Case) -> (Vec<Why>, Option<&'o Offer>) {
    let mut refusals = Vec::new();
    for offer in offers {
        let mut constants = case.constants.clone();
        let checked = offer.contract.check(&case.operands, &constants).map(|_| ());
        match checked.and_then(|()| offer.contract.derive(&case.operands, &mut constants)) {
            Ok(()) => return (refusals, Some(offer)),
            Err(why) => refusals.push(why),
        }
    }
    (refusals, None)
}

/// Refusals of a variant that its kernel's own contract does not know, but for those that no graph can show.
fn narrowed(subject: &Subject, base: &Contract, narrow: &Contract) -> BTreeSet<Refusal> {
    let wide = coverage::refusals(base, subject);
    let ports =
        |name| base.port(name).map(|at| (&base.ports[at], &narrow.ports[at])).expect("a port of both");
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
