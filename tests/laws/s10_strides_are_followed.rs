//! S10: strides are never derived again from extents: gaps are neither read nor written.

use crate::padding::{is_plain, padded, untouched};
use weft_core::driver::Options;
use weft_tests::devices;
use weft_tests::graphs::cached::{self, Keys};
use weft_tests::graphs::delta::{Layer, SMALL};
use weft_tests::graphs::edit::{Between, Change, changed};
use weft_tests::graphs::misses::{self, Firing};
use weft_tests::graphs::{claims, same, segmented, without};
use weft_tests::naive::interpret;

fn options(off: &[&str]) -> Options {
    Options { exact: true, ..without(off) }
}

#[test]
fn gaps_around_every_operand_are_neither_read_nor_written() {
    let with_views = |rule: &str| {
        let family = rule.starts_with("gdn") || rule.starts_with("expert_sum");
        family
            || ["norm_rope_rows", "pool_rows", "router", "combine_norm", "mul_mat_mix", "mix_streams"]
                .contains(&rule)
    };
    for Firing { rule, fixture, .. } in misses::all() {
        assert_eq!(
            is_plain(&fixture),
            !with_views(rule.name),
            "{}: views have tests of their own",
            rule.name
        );
        if with_views(rule.name) {
            continue;
        }
        for (gap, base) in [(1, 0), (4, 8), (7, 3)] {
            let padded = padded(&fixture, gap, base);
            let want = interpret(&padded.graph, &padded.filled(1)).unwrap();
            for device in [devices::complete(), devices::reference()] {
                for off in [&[][..], &["*"]] {
                    let got = padded.run(std::slice::from_ref(&device), &options(off)).unwrap();
                    assert_eq!(claims(&got.plan, rule.name), usize::from(off.is_empty()), "{}", padded.name);
                    same::check(&padded.graph, &got, &want, same::tolerance(&got.plan))
                        .unwrap_or_else(|e| panic!("{}: {e}", padded.name));
                    untouched(&padded, &got).unwrap_or_else(|e| panic!("{}: {e}", padded.name));
                }
            }
        }
    }
}

#[test]
fn gaps_of_the_convolution_row_are_not_read() {
    for (base, pad) in [(0, 1), (5, 0), (4, 4), (3, 9)] {
        for seqs in [1, 2] {
            let plain =
                Layer { base, pad, seqs, ..SMALL }.fixture(format!("base {base}, pad {pad}, S {seqs}"));
            let segments =
                segmented::Segmented { pad, ..segmented::one(6) }.fixture(format!("segmented, pad {pad}"));
            for fixture in [plain, segments] {
                let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
                for device in devices::found() {
                    for off in [&[][..], &["gdn_layer"], &["*"]] {
                        let got = fixture.run(std::slice::from_ref(&device), &options(off)).unwrap();
                        same::check(&fixture.graph, &got, &want, same::tolerance(&got.plan))
                            .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
                    }
                }
            }
        }
    }
}

#[test]
fn gaps_between_heads_and_between_rows_of_a_cache_are_neither_read_nor_written() {
    for gap in [2, 4, 10] {
        let fixture = Keys { gap, ..cached::SMALL }.fixture(format!("keys between gaps of {gap}"));
        let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
        for device in [devices::complete(), devices::reference()] {
            for off in [&[][..], &["norm_rope_rows"], &["*"]] {
                let got = fixture.run(std::slice::from_ref(&device), &options(off)).unwrap();
                assert_eq!(
                    claims(&got.plan, "norm_rope_rows"),
                    usize::from(off.is_empty()),
                    "{}",
                    fixture.name
                );
                same::check(&fixture.graph, &got, &want, same::tolerance(&got.plan))
                    .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
            }
        }
    }
}

#[test]
fn two_strides_of_equal_extents_may_be_exchanged() {
    let mut turned = 0;
    for Firing { rule, fixture, .. } in misses::all() {
        for node in fixture.graph.node_ids() {
            for index in 0..fixture.graph.node(node).sources.len() {
                let change = Change::Via(index, Between::Turned);
                let Some(made) = changed(&fixture.graph, node, &change) else { continue };
                let fixture = fixture.with(&format!("{change:?} at {node:?}"), made.graph);
                let want = interpret(&fixture.graph, &fixture.filled(1)).unwrap();
                for device in [devices::complete(), devices::reference()] {
                    let got = fixture.run(&[device], &options(&[])).unwrap();
                    turned += claims(&got.plan, rule.name);
                    same::check(&fixture.graph, &got, &want, same::tolerance(&got.plan))
                        .unwrap_or_else(|e| panic!("{}: {e}", fixture.name));
                }
            }
        }
    }
    assert!(turned > 10, "rules fired {turned} times on exchanged strides");
}
