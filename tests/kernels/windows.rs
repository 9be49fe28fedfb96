//! Tables that one binding cannot hold: kernels that choose rows see them part by part.

use crate::check::draw_case;
use crate::data::Bench;
use crate::subject::Subject;
use crate::{dispatch, get_rows, norm_rope_rows, rope, set_rows};
use weft_core::backend::Backend;
use weft_core::contract::draw::{Draft, Source, Wish};
use weft_core::graph::Layout;
use weft_tests::{Random, devices};
use weft_wgpu::{Bounds, Options};

/// Bytes of a binding.
const BINDING: u64 = 32 << 10;
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
                // The table alone is too large, but none of its rows.
                let fits = |layout: &Layout| layout.range().is_none_or(|range| range.end <= BINDING - 1024);
                let row = |layout: Layout| Layout { shape: [layout.shape[0], 1, 1, 1], offset: 0, ..layout };
                let at = case.draft.contract.port(table);
                let suits = |(i, layout): (usize, &Option<Layout>)| {
                    layout.is_none_or(|l| fits(&l) != (at == Some(i)) && fits(&row(l)))
                };
                if !case.operands.iter().enumerate().all(suits) {
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
    let complete = |draft: &mut Draft, _: &mut Source<'_>| draft.set_open("table", 1, 700);
    check(&Subject { complete, values: get_rows::SUBJECT.values, ..Subject::new("get_rows") }, "table");
}

#[test]
fn rows_are_written_into_parts_of_a_table() {
    let complete = |draft: &mut Draft, _: &mut Source<'_>| draft.set_open("out", 1, 700);
    check(&Subject { complete, values: set_rows::SUBJECT.values, ..Subject::new("set_rows") }, "out");
}

#[test]
fn heads_are_written_into_parts_of_a_cache() {
    let complete = |draft: &mut Draft, source: &mut Source<'_>| {
        rope::complete(draft, source);
        draft.set_open("out", 1, 700);
    };
    check(
        &Subject { complete, values: norm_rope_rows::SUBJECT.values, ..Subject::new("norm_rope_rows") },
        "out",
    );
}
