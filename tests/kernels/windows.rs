//! Tables that one binding cannot hold: kernels that choose rows see them part by part.

use crate::check::draw_case;
use crate::data::Bench;
use crate::subject::Subject;
use crate::{dispatch, get_rows, set_rows};
use weft_core::backend::Backend;
use weft_core::contract::draw::Wish;
use weft_tests::{Random, devices};
use weft_wgpu::{Bounds, Options};

/// Bytes of a binding.
const BINDING: u64 = 16 << 10;
/// Cases of each variant.
const CASES: usize = 20;

fn check(subject: &Subject, table: &str) {
    let bounds = Bounds { binding: BINDING, ..Bounds::default() };
    for gpu in devices::gpus(&Options { bounds, ..devices::options() }) {
        for offer in gpu.offers().iter().filter(|offer| offer.contract.kernel == subject.kernel) {
            let mut checked = 0;
            for attempt in 0..4000 {
                let mut random = Random::named(subject.kernel, attempt << 32 | 4);
                let Some(case) = draw_case(subject, offer.contract, &Wish::default(), 1 << 16, &mut random)
                else {
                    continue;
                };
                let port = |name| case.draft.contract.port(name);
                let large = |at: usize| {
                    case.operands[at]
                        .and_then(|layout| layout.range())
                        .is_some_and(|r| r.end > BINDING - 1024)
                };
                if (0..case.operands.len()).any(|at| large(at) != (port(table) == Some(at))) {
                    continue;
                }
                let place =
                    format!("{} {} attempt {attempt} on {}", subject.kernel, offer.variant, gpu.name());
                let bench = Bench::new(subject, case, &mut random).expect("sane data");
                let after = dispatch::run(&*gpu, offer, &bench.case, &bench.storages);
                let after = after.unwrap_or_else(|error| panic!("{place}: {error}"));
                let compared = bench.compare(&after, offer.contract.tolerance);
                assert_eq!(compared, Ok(()), "{place}: {:#?}", bench.case.operands);
                checked += 1;
                if checked == CASES {
                    break;
                }
            }
            assert_eq!(checked, CASES, "{} {}", subject.kernel, offer.variant);
        }
    }
}

#[test]
fn rows_are_read_from_parts_of_a_table() {
    let complete =
        |draft: &mut _, _: &mut _| weft_core::contract::draw::Draft::set_open(draft, "table", 1, 700);
    check(&Subject { complete, values: get_rows::SUBJECT.values, ..Subject::new("get_rows") }, "table");
}

#[test]
fn rows_are_written_into_parts_of_a_table() {
    let complete =
        |draft: &mut _, _: &mut _| weft_core::contract::draw::Draft::set_open(draft, "out", 1, 700);
    check(&Subject { complete, values: set_rows::SUBJECT.values, ..Subject::new("set_rows") }, "out");
}
