//! GPU backends beside each other, without a reference between them: the same operands on both, kernel by kernel.

use crate::check::{draw_case, offers, seed};
use crate::data::Bench;
use crate::machines::{self, Machine};
use crate::subject::Subject;
use crate::{SUBJECTS, dispatch};
use weft_core::backend::Offer;
use weft_core::contract::Tolerance;
use weft_core::contract::draw::Wish;
use weft_tests::Random;

/// Cases of each variant.
const CASES: usize = 6;
/// Elements of an operand, at most.
const MOST: u64 = 1 << 11;

/// The first device of each kind of GPU: `wgpu`, `hip`.
fn kinds() -> Vec<&'static Machine> {
    let mut all: Vec<&Machine> = Vec::new();
    let kind = |machine: &Machine| machine.name.split(':').next().unwrap_or_default().to_owned();
    for machine in machines::backends().filter(|machine| !machine.name.starts_with("cpu")) {
        if all.iter().all(|other| kind(other) != kind(machine)) {
            all.push(machine);
        }
    }
    all
}

#[test]
fn gpu_backends_agree_with_each_other() {
    let kinds = kinds();
    let [first, second] = kinds[..] else {
        let names: Vec<&str> = kinds.iter().map(|machine| machine.name.as_str()).collect();
        eprintln!("left out: two kinds of GPU beside each other; there are {names:?}");
        return;
    };
    let mut cases = 0;
    for subject in SUBJECTS {
        for offer in offers(subject, second) {
            cases += compare(subject, first, second, offer);
        }
    }
    println!("{} beside {}: {cases} cases", first.name, second.name);
}

/// One device's variant beside the other device's first variant of the same arithmetic that takes the operands.
fn compare(
    subject: &Subject,
    first: &'static Machine,
    second: &'static Machine,
    offer: &'static Offer,
) -> usize {
    let mut cases = 0;
    for attempt in 0..200 {
        if cases == CASES {
            break;
        }
        let name = format!("{} {}", subject.kernel, offer.variant);
        let mut random = Random::named(&name, seed().wrapping_add(attempt << 32 | 2));
        let Some(case) = draw_case(subject, offer.contract, &Wish::default(), MOST, &mut random) else {
            continue;
        };
        let takes = |other: &&Offer| {
            other.exact == offer.exact && other.contract.check(&case.operands, &case.constants).is_ok()
        };
        let Some(other) = offers(subject, first).find(takes) else { continue };
        let Ok(bench) = Bench::new(subject, case, &mut random) else { continue };
        let place = format!("{name} beside {} {}, attempt {attempt}", first.name, other.variant);
        let run = |machine: &Machine, offer: &Offer| {
            dispatch::run(&*machine.backend, offer, &bench.case, &bench.storages)
                .unwrap_or_else(|error| panic!("{place} on {}: {error}", machine.name))
        };
        let (a, b) = (run(first, other), run(second, offer));
        // Each may be as far from the truth as its contract says.
        let (one, two) = (other.contract.tolerance, offer.contract.tolerance);
        let sum =
            Tolerance { nmse_row: 2.0 * (one.nmse_row + two.nmse_row), max_abs: one.max_abs + two.max_abs };
        if let Err(why) = bench.expecting(&a).compare(&b, sum) {
            panic!("{place}: {why}");
        }
        cases += 1;
    }
    cases
}
