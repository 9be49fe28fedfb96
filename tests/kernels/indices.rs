//! Indices that only run time can judge: one outside its table, ubatch or pool is a typed error that names its port.

use crate::SUBJECTS;
use crate::check::{draw_case, offers};
use crate::data::Bench;
use crate::dispatch;
use crate::machines;
use crate::subject::Subject;
use weft_core::backend::{DeviceError, Offer};
use weft_core::contract::draw::Wish;
use weft_core::kernels::KernelError;
use weft_tests::Random;

const MOST: u64 = 1 << 12;
/// Larger than any table, pool and ubatch of a case.
const FAR: i64 = 1 << 20;

fn subject(kernel: &str) -> &'static Subject {
    SUBJECTS.iter().find(|subject| subject.kernel == kernel).expect("a tested kernel")
}

/// A case of an offer in which the port has elements and no two of them share bytes; other seeds give others.
fn bench(subject: &Subject, offer: &'static Offer, port: &'static str, first: u64) -> Bench {
    for seed in first..first + 2000 {
        let mut random = Random::named(subject.kernel, seed << 32 | 3);
        let wish = Wish { bound: vec![(port, true)], tokens: Some(3), ..Wish::default() };
        let Some(case) = draw_case(subject, offer.contract, &wish, MOST.max(subject.elements), &mut random)
        else {
            continue;
        };
        let empty = case.operands.iter().flatten().any(|layout| layout.is_empty());
        if case.layout(port).is_some() && crate::subject::is_distinct(&case, port) && !empty {
            return Bench::new(subject, case, &mut random).expect("sane data");
        }
    }
    panic!("{}: no case binds `{port}`", subject.kernel);
}

/// Every backend's offers for a kernel.
fn every(subject: &'static Subject) -> impl Iterator<Item = (&'static str, &'static Offer)> {
    machines::backends()
        .flat_map(|machine| offers(subject, machine).map(|offer| (machine.backend.name(), offer)))
}

fn expect_refusal(subject: &Subject, backend: &str, offer: &Offer, bench: &Bench, port: &str) {
    for machine in machines::running(backend, offer) {
        let outcome = dispatch::run(&*machine.backend, offer, &bench.case, &bench.storages);
        match outcome {
            Err(DeviceError::Kernel { source: KernelError::Index { port: named, .. }, .. }) => {
                assert_eq!(named, port)
            }
            other => panic!("{} {} on {}: {:?}", subject.kernel, offer.variant, machine.name, other.err()),
        }
    }
}

#[test]
fn rows_outside_a_table_are_refused() {
    let all = [
        ("get_rows", "rows"),
        ("pool_rows", "cells"),
        ("pool_rows", "rows"),
        ("set_rows", "rows"),
        ("norm_rope_rows", "rows"),
        ("mul_mat_id", "ids"),
        ("gdn_core", "rows"),
    ];
    for (kernel, port) in all {
        let subject = subject(kernel);
        for (backend, offer) in every(subject) {
            if offer.contract.port(port).is_none_or(|at| offer.contract.ports[at].dtypes.is_empty()) {
                continue;
            }
            for wrong in [FAR, -2] {
                let mut bench = bench(subject, offer, port, 0);
                bench.set(port, [0; 4], wrong);
                expect_refusal(subject, backend, offer, &bench, port);
            }
        }
    }
}

#[test]
fn segments_outside_ubatch_and_pools_are_refused() {
    // Slot, first row and count of a segment that leaves the pool, begins behind the ubatch, and ends behind it.
    let wrong = [[FAR, 0, 1], [-1, 0, 1], [0, FAR, 1], [0, 0, FAR], [0, 2, -1]];
    for subject in SUBJECTS.iter().filter(|subject| subject.reference().contract.port("segments").is_some()) {
        for (backend, offer) in every(subject) {
            for (words, first) in wrong.into_iter().zip((0..).step_by(100)) {
                let mut bench = bench(subject, offer, "segments", first);
                for (word, value) in words.into_iter().enumerate() {
                    bench.set("segments", [word as u64, 0, 0, 0], value);
                }
                expect_refusal(subject, backend, offer, &bench, "segments");
            }
        }
    }
}
