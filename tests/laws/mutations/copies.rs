//! Devices of which one is not brought what another wrote.

use std::sync::Arc;
use weft_core::driver::Options;
use weft_core::plan::Plan;
use weft_tests::faulty::Faulty;
use weft_tests::graphs::{delta, same, segmented, sharing, states, without};
use weft_tests::naive::interpret;
use weft_tests::run::Data;
use weft_tests::{devices, run};

/// Leaves out one copy: of a split, or of those after the last one.
fn leave_out(plan: &mut Plan, split: usize, copy: usize) {
    let copies = match plan.splits.get_mut(split) {
        Some(split) => &mut split.copies,
        None => &mut plan.last_copies,
    };
    copies.remove(copy);
}

/// Runs a plan as it is, by two devices with memories of their own.
fn ran(plan: Plan, data: &Data) -> Result<run::Outcome, weft_core::run::RunError> {
    let devices: Vec<Arc<dyn weft_core::backend::Backend>> = plan
        .devices
        .iter()
        .map(|part| Faulty::around(devices::reference()).named(&part.name).shared())
        .collect();
    run::planned(plan, &devices, data)
}

#[test]
fn a_copy_that_is_left_out_at_a_cut_is_noticed() {
    let layer = delta::Layer { states: delta::whole_pool(2), seqs: 2, tokens: 3, ..delta::SMALL };
    let fixtures = [
        layer.fixture("pool"),
        segmented::one(4).fixture("segmented"),
        sharing::interleaved(),
        states::convolution(true),
    ];
    let (mut tried, mut unnoticed) = (0, Vec::new());
    for fixture in fixtures {
        let data = fixture.filled(1);
        let want = interpret(&fixture.graph, &data).unwrap();
        let devices = ["home", "away"].map(|name| Faulty::around(devices::reference()).named(name).shared());
        let count = fixture.graph.nodes.len();
        for cut in (1..count).step_by(3) {
            let placement = (0..count).map(|node| Some(usize::from(node >= cut))).collect();
            let options = Options { placement, ..without(&["*"]) };
            let plan = fixture.plan(&devices, &options).unwrap();
            let right = |plan: Plan| {
                let tolerance = same::tolerance(&plan);
                let got = ran(plan, &data);
                got.is_ok_and(|got| same::check(&fixture.graph, &got, &want, tolerance).is_ok())
            };
            assert!(right(plan.clone()), "{}, cut at {cut}", fixture.name);
            let splits = plan.splits.iter().map(|split| split.copies.len()).chain([plan.last_copies.len()]);
            // What the first split brings are whole states, most of them overwritten before they are read.
            for (split, copies) in splits.enumerate().skip(1) {
                for copy in 0..copies {
                    let mut without = plan.clone();
                    leave_out(&mut without, split, copy);
                    let what =
                        format!("{}, cut at {cut}, without copy {copy} of split {split}", fixture.name);
                    tried += 1;
                    if right(without) {
                        unnoticed.push(what);
                    }
                }
            }
        }
    }
    assert!(tried > 40 && unnoticed.len() * 10 <= tried, "of {tried}: {unnoticed:#?}");
}
