//! The checks themselves: faults that a kernel could have are noticed.

use crate::SUBJECTS;
use crate::check::{draw_case, offers};
use crate::data::Bench;
use crate::dispatch;
use crate::machines;
use crate::subject::Subject;
use weft_core::backend::Offer;
use weft_core::contract::draw::{StrideClass, Wish, class_of};
use weft_core::graph::DType;
use weft_tests::Random;

const MOST: u64 = 1 << 12;

/// The last offer of a kernel: its reference.
fn reference(subject: &Subject) -> &'static Offer {
    let machine = machines::backends().next().expect("a machine");
    offers(subject, machine).last().expect("an offer")
}

/// Some cases of a kernel in which something is to be computed.
fn benches(subject: &'static Subject, count: u64) -> impl Iterator<Item = (Bench, Random)> {
    (0..count).filter_map(move |seed| {
        let mut random = Random::named(subject.kernel, seed << 32 | 2);
        let case = draw_case(subject, reference(subject).contract, &Wish::default(), MOST, &mut random)?;
        let bench = Bench::new(subject, case, &mut random).expect("sane data");
        bench.changes().then_some((bench, random))
    })
}

#[test]
fn a_kernel_that_does_nothing_is_noticed() {
    for subject in SUBJECTS {
        let mut tried = 0;
        for (bench, _) in benches(subject, 100) {
            let tolerance = reference(subject).contract.tolerance;
            assert!(bench.compare(&bench.storages, tolerance).is_err(), "{}", subject.kernel);
            tried += 1;
        }
        assert!(tried > 5, "{}: {tried}", subject.kernel);
    }
}

#[test]
fn a_changed_byte_beside_the_results_is_noticed() {
    for subject in SUBJECTS {
        let (offer, backend) = (reference(subject), &machines::all()[0].backend);
        for (bench, mut random) in benches(subject, 20) {
            let mut after = dispatch::run(&**backend, offer, &bench.case, &bench.storages).expect("it runs");
            assert_eq!(bench.compare(&after, offer.contract.tolerance), Ok(()));
            let homes: Vec<usize> = (0..after.len()).filter(|at| !after[*at].is_empty()).collect();
            let home = random.pick(&homes);
            // The last bytes of a storage belong to no element.
            let end = after[home].len() as u64;
            let byte = (end - 1 - random.below(70)) as usize;
            after[home][byte] ^= 1;
            assert!(bench.compare(&after, offer.contract.tolerance).is_err(), "{}", subject.kernel);
        }
    }
}

/// Strides of floats taken from the shape instead of the layout lead to other elements, or into a gap.
#[test]
fn a_stride_that_is_derived_anew_is_noticed() {
    for subject in SUBJECTS {
        let (offer, backend) = (reference(subject), &machines::all()[0].backend);
        let (mut tried, mut noticed) = (0, 0);
        for (bench, _) in benches(subject, 120) {
            for at in 0..bench.storages.len() {
                let Some(layout) = bench.case.operands[at].filter(|layout| layout.dtype == DType::F32) else {
                    continue;
                };
                for dim in 0..4 {
                    let mut wrong = layout;
                    wrong.strides[dim] = layout.packed_stride(dim);
                    let away =
                        matches!(class_of(&layout, dim), Some(StrideClass::Wider | StrideClass::Permuted));
                    let inside = wrong
                        .range()
                        .is_some_and(|range| range.end <= bench.storages[bench.case.homes[at]].len() as u64);
                    if !away || !inside || wrong == layout {
                        continue;
                    }
                    let mut case = bench.case.clone();
                    case.operands[at] = Some(wrong);
                    let after = dispatch::run(&**backend, offer, &case, &bench.storages);
                    let same =
                        after.is_ok_and(|after| bench.compare(&after, offer.contract.tolerance).is_ok());
                    (tried, noticed) = (tried + 1, noticed + usize::from(!same));
                }
            }
        }
        // A masked cell, a dropped row or a tie can hide a wrong element, not many.
        assert!(tried >= 10 && noticed * 10 >= tried * 8, "{}: {noticed} of {tried}", subject.kernel);
    }
}
