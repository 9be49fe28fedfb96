//! `mul_mat`.

use crate::check::{check_case, offers, seed};
use crate::coverage::Refusal;
use crate::data::Bench;
use crate::dispatch;
use crate::machines::{self, Machine};
use crate::subject::{Subject, factors, values};
use std::sync::Arc;
use weft_core::backend::Offer;
use weft_core::contract::draw::{Case, Draft};
use weft_core::contract::{Constants, Contract};
use weft_core::driver::{Options, Why};
use weft_core::graph::{DType, GraphBuilder, Layout};
use weft_tests::Random;
use weft_tests::graphs::plan_for;

/// The kernel.
pub static SUBJECT: Subject = Subject {
    values: |case, _| values([("weight", factors(case, "out")), ("x", factors(case, "out"))]),
    // The columns have the same extents.
    shadowed: &[Refusal::Extent("out", 2), Refusal::Extent("out", 3)],
    ..Subject::new("mul_mat")
};

#[test]
fn equals_its_reference() {
    SUBJECT.equals_its_reference();
}

#[test]
fn declines_one_step_outside() {
    SUBJECT.declines_one_step_outside();
}

#[test]
fn falls_back_to_a_variant_that_admits_it() {
    SUBJECT.falls_back();
}

/// More rows than a GPU's blocks compute at a time: those that round columns go on to others. Of two columns of the last width
/// they hold a part.
#[test]
fn many_rows_share_rounded_columns() {
    for (dtype, width, columns) in [(DType::Q8_0, 64, 1), (DType::Q4_K, 256, 3), (DType::Q4_K, 4352, 2)] {
        for machine in machines::backends() {
            for offer in offers(&SUBJECT, machine).filter(|offer| offer.variant == "q8") {
                let case = product(offer.contract, dtype, width, 264 * 32 + 45, columns);
                let place = format!("{}: {dtype} {width} x {columns}", machine.name);
                let bench = Bench::new(&SUBJECT, case, &mut Random::named(&place, seed()));
                let running = machines::running(machine.backend.name(), offer);
                check_case(&running, offer, &bench.expect("sane data"), &place);
            }
        }
    }
}

/// A draft of several tokens is accepted only if each becomes what it would be in a step of its own.
#[test]
fn a_column_becomes_what_it_would_be_alone() {
    let types = [DType::Q4_0, DType::Q5_1, DType::Q8_0, DType::Q4_K, DType::Q5_K, DType::Q6_K];
    for machine in machines::backends().filter(|machine| machine.name.starts_with("hip")) {
        for offer in offers(&SUBJECT, machine).filter(|offer| ["q8", "vec"].contains(&offer.variant)) {
            for (dtype, width) in types.into_iter().flat_map(|dtype| [(dtype, 768), (dtype, 4352)]) {
                compare_columns(machine, offer, dtype, width);
            }
        }
    }
}

fn compare_columns(machine: &Machine, offer: &'static Offer, dtype: DType, width: u64) {
    const ROWS: u64 = 5;
    let place = format!("{} {}: {dtype} {width}", machine.name, offer.variant);
    let case = product(offer.contract, dtype, width, ROWS, 8);
    let bench = Bench::new(&SUBJECT, case, &mut Random::named(&place, seed())).expect("sane data");
    let run = |columns, x: &[u8]| {
        let case = product(offer.contract, dtype, width, ROWS, columns);
        let storages = [bench.storages[0].clone(), x.to_vec(), vec![0; (4 * ROWS * columns) as usize]];
        dispatch::run(&*machine.backend, offer, &case, &storages).expect("it runs").remove(2)
    };
    let (column, result) = ((4 * width) as usize, (4 * ROWS) as usize);
    let x = &bench.storages[1][..8 * column];
    let alone: Vec<Vec<u8>> = x.chunks(column).map(|x| run(1, x)).collect();
    for columns in [2, 3, 5, 8] {
        let together = run(columns, &x[..columns as usize * column]);
        for (at, got) in together.chunks(result).enumerate() {
            assert_eq!(got, alone[at], "{place}: column {at} of {columns}");
        }
    }
}

fn product(contract: &'static Contract, dtype: DType, width: u64, rows: u64, columns: u64) -> Case {
    let packed = |dtype, shape| Layout::packed(dtype, shape).expect("a packed layout");
    let operands = [
        packed(dtype, [width, rows, 1, 1]),
        packed(DType::F32, [width, columns, 1, 1]),
        packed(DType::F32, [rows, columns, 1, 1]),
    ];
    let draft = Draft {
        contract,
        bound: vec![true; 3],
        dtypes: operands.iter().map(|layout| layout.dtype).collect(),
        constants: Vec::new(),
        names: Vec::new(),
        open: vec![[1; 4]; 3],
    };
    let operands = operands.into_iter().map(Some).collect();
    Case { draft, operands, homes: vec![0, 1, 2], constants: Constants::new() }
}

#[test]
fn exactness_passes_over_eight_bit_dots() {
    let mut builder = GraphBuilder::new();
    let weight = builder.weight("weight", DType::Q8_0, &[64, 8]).expect("a weight");
    let x = builder.input("x", DType::F32, &[64, 3]).expect("an input");
    let out = builder.mul_mat(weight, x).expect("a product");
    builder.output("out", out).expect("an output");
    let graph = Arc::new(builder.finish().expect("a graph"));
    let Some(cpu) = machines::all().iter().find(|machine| machine.backend.name() == "cpu") else { return };
    let devices = [Arc::clone(&cpu.backend)];
    for (exact, variant) in [(false, "q8"), (true, "f32")] {
        let plan = plan_for(&graph, &devices, &Options { exact, ..Options::default() }).expect("a plan");
        assert_eq!(plan.dispatches[0].variant, variant);
        let mut declines = plan.trail.iter().flat_map(|attempt| &attempt.declines);
        assert_eq!(declines.any(|decline| decline.why == Why::NotExact { variant: "q8" }), exact);
    }
}
