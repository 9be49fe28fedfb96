//! The checks that every kernel passes.

use crate::coverage::{self, Refusal};
use crate::data::Bench;
use crate::dispatch;
use crate::forms::Forms;
use crate::machines::{self, Machine};
use crate::subject::Subject;
use std::collections::BTreeSet;
use weft_core::backend::Offer;
use weft_core::contract::draw::{self, Case, Source, Wish};
use weft_core::contract::{Contract, Tolerance};
use weft_tests::Random;

/// Drafts before a variant's cases must show everything.
const ATTEMPTS: u64 = 6000;
/// Elements of an operand, at most.
const MOST: u64 = 1 << 16;

/// The seed of the whole run: `WEFT_SEED`, or 0.
pub fn seed() -> u64 {
    std::env::var("WEFT_SEED").ok().map_or(0, |text| text.parse().expect("WEFT_SEED is a number"))
}

/// A legal case of a contract, with at most so many elements in an operand.
pub fn draw_case(
    subject: &Subject,
    contract: &'static Contract,
    wish: &Wish,
    most: u64,
    random: &mut Random,
) -> Option<Case> {
    let mut numbers = |limit| random.below(limit);
    draw::legal(
        contract,
        wish,
        most,
        &mut |draft, source| (subject.complete)(draft, source),
        &mut Source(&mut numbers),
    )
}

/// A backend's offers for a kernel.
pub fn offers(subject: &Subject, machine: &'static Machine) -> impl Iterator<Item = &'static Offer> {
    machine.backend.offers().iter().filter(|offer| offer.contract.kernel == subject.kernel)
}

impl Subject {
    /// On every machine, every variant gives the reference's results for layouts drawn from its contract, and all that
    /// the contract allows is drawn.
    pub fn equals_its_reference(&self) {
        for machine in machines::backends() {
            for offer in offers(self, machine) {
                let cases = self.check_offer(machine.backend.name(), offer);
                let items = coverage::required(offer.contract, self).len();
                println!(
                    "{} {} on {}: {cases} cases show {items} properties",
                    self.kernel,
                    offer.variant,
                    machine.backend.name()
                );
            }
        }
    }

    fn check_offer(&self, backend: &str, offer: &Offer) -> usize {
        let mut missing = coverage::required(offer.contract, self);
        let machines = machines::running(backend, offer);
        let effort = machines::effort(backend);
        let mut forms = Forms::of(backend);
        let mut cases = 0;
        for attempt in 0..ATTEMPTS.max(30 * effort.cases as u64) {
            if missing.is_empty() && cases >= effort.cases {
                break;
            }
            let name = format!("{} {}", self.kernel, offer.variant);
            let mut random = Random::named(&name, seed().wrapping_add(attempt << 32));
            let mut wish = coverage::wish(offer.contract, &missing, &mut random);
            forms.lean(&mut wish, &mut random);
            let most = if missing.is_empty() { effort.later } else { effort.elements };
            let most = most.max(self.elements);
            let Some(case) = draw_case(self, offer.contract, &wish, most, &mut random) else { continue };
            let shown = coverage::shown(&case);
            let adds = !missing.is_disjoint(&shown);
            if !adds && (cases >= effort.cases || !forms.knows(&case)) {
                continue;
            }
            forms.add(&case);
            let place = format!("{name}, WEFT_SEED={} attempt {attempt}", seed());
            assert_legal(&case, &place);
            let bench = Bench::new(self, case, &mut random)
                .unwrap_or_else(|e| panic!("{place}: the reference refused its data: {e}"));
            check_case(&machines, offer, &bench, &place);
            missing = missing.difference(&shown).cloned().collect();
            cases += 1;
        }
        assert!(missing.is_empty(), "{} {}: never built: {missing:#?}", self.kernel, offer.variant);
        cases
    }

    /// Each just-illegal neighbour of legal operands is refused for exactly its reason, and every reason occurs.
    pub fn declines_one_step_outside(&self) {
        for offer in machines::backends().flat_map(|machine| offers(self, machine)) {
            let mut missing: BTreeSet<Refusal> = coverage::refusals(offer.contract, self);
            for attempt in 0..400 {
                if attempt >= 40 && missing.is_empty() {
                    break;
                }
                let mut random = Random::named(self.kernel, seed().wrapping_add(attempt << 32));
                let Some(case) = draw_case(self, offer.contract, &Wish::default(), MOST, &mut random) else {
                    continue;
                };
                let place =
                    format!("{} {}, WEFT_SEED={} attempt {attempt}", self.kernel, offer.variant, seed());
                assert_legal(&case, &place);
                for neighbour in draw::neighbours(&case) {
                    let mut constants = neighbour.constants.clone();
                    let checked = offer.contract.check(&neighbour.operands, &constants).map(|_| ());
                    let got =
                        checked.and_then(|()| offer.contract.derive(&neighbour.operands, &mut constants));
                    assert_eq!(got, Err(neighbour.why.clone()), "{place}: {neighbour:?}");
                    missing.remove(&Refusal::of(&neighbour.why));
                }
            }
            assert!(missing.is_empty(), "{} {}: never refused for {missing:?}", self.kernel, offer.variant);
        }
    }
}

fn assert_legal(case: &Case, place: &str) {
    let mut constants = case.constants.clone();
    let contract = case.draft.contract;
    if let Err(why) = contract.check(&case.operands, &constants) {
        panic!("{place}: the contract refuses what was drawn from it: {why:?}\n{case:#?}");
    }
    if let Err(why) = contract.derive(&case.operands, &mut constants) {
        panic!("{place}: a constant cannot be derived: {why:?}\n{case:#?}");
    }
}

/// Runs a case on machines; those of one family must agree bit for bit.
pub fn check_case(machines: &[&'static Machine], offer: &Offer, bench: &Bench, place: &str) {
    let tolerance: Tolerance = offer.contract.tolerance;
    let mut first: Option<(&str, Vec<Vec<u8>>)> = None;
    for machine in machines {
        let shown =
            || format!("{place} on {}\n{:#?}\n{:?}", machine.name, bench.case.operands, bench.case.constants);
        let after = dispatch::run(&*machine.backend, offer, &bench.case, &bench.storages)
            .unwrap_or_else(|error| panic!("{error}\n{}", shown()));
        if let Err(why) = bench.compare(&after, tolerance) {
            panic!("{why}\n{}", shown());
        }
        match &first {
            Some((family, before)) if *family == machine.family => {
                assert!(*before == after, "the number of threads changes the result\n{}", shown());
            }
            _ => first = Some((&machine.family, after)),
        }
    }
}
