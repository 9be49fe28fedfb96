//! `gated_delta_net` in both forms: states in the result, and states in a pool by segment.

use crate::coverage::Refusal;
use crate::segments;
use crate::subject::{Subject, Values, between, factors, is_distinct, values};
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::contract::Constant;
use weft_core::contract::draw::{Case, Draft, Source};
use weft_core::driver::Options;
use weft_core::graph::{DType, GraphBuilder, HeadMap, Op};
use weft_tests::run::{self, Data};
use weft_tests::{Random, devices};

/// The kernel.
pub static SUBJECT: Subject = Subject {
    complete,
    values: |case, random| {
        let (table, snapshots) = table(case, "state", random);
        let distinct = is_distinct(case, "state");
        let state = if case.layout("segments").is_some() {
            segments::states(&table, snapshots, distinct, factors(case, "v"))
        } else {
            factors(case, "v")
        };
        let old = segments::no_states(snapshots);
        let ready = [
            ("q", factors(case, "v")),
            ("k", key(case)),
            ("v", factors(case, "v")),
            ("gate", between(-0.3, 0.0)),
            ("beta", between(0.0, 1.0)),
        ];
        let mut all = values(ready);
        all.extend([("state", state), ("state_out", old), ("segments", segments::words(&table))]);
        all
    },
    leaves_rows,
    single: &[("out", 3)],
    // In graphs the states go back where they came from.
    shadowed: &[
        Refusal::Alignment("state_out"),
        Refusal::Stride("state_out", 0),
        Refusal::Stride("state_out", 1),
        Refusal::Stride("state_out", 2),
        Refusal::Stride("state_out", 3),
    ],
    elements: 1 << 16,
    ..Subject::new("gated_delta_net")
};

/// Rows of tokens that belong to no segment, and snapshots of more tokens than there are.
pub fn leaves_rows(case: &Case) -> bool {
    let tokens = case.layout("v").map_or(0, |v| v.shape[2]);
    case.layout("segments").is_some() || tokens < snapshots(case)
}

/// How many states a case keeps.
pub fn snapshots(case: &Case) -> u64 {
    match case.constants.get("snapshots") {
        Some(Constant::Integer(snapshots)) => u64::from(snapshots),
        _ => 1,
    }
}

/// The segments of a case, and its snapshots.
pub fn table(case: &Case, pool: &str, random: &mut Random) -> (Vec<weft_core::segment::Segment>, u64) {
    let snapshots = snapshots(case);
    let tokens = case.layout("v").map_or(0, |v| v.shape[2]);
    let planes = case.layout(pool).map_or(1, |pool| pool.shape[3]);
    (segments::table(case, tokens, planes / snapshots, snapshots, random), snapshots)
}

/// Keys of at most unit length: longer ones would make the state grow without bound.
fn key(case: &Case) -> Values {
    let most = 1.0 / (case.layout("k").map_or(1, |k| k.shape[0]) as f64).sqrt();
    let mut factors = factors(case, "k");
    Box::new(move |index, random| most * factors(index, random))
}

fn complete(draft: &mut Draft, source: &mut Source<'_>) {
    let segmented = draft.is_bound("segments");
    let snapshots = u64::from(draft.integer("snapshots"));
    let seqs = draft.extent("S");
    draft.set_extent("P", if segmented { snapshots * (1 + source.below(3)) } else { seqs });
    result(draft, segmented);
}

/// The result: one row per head and token, or everything in one flat tensor.
pub fn result(draft: &mut Draft, segmented: bool) {
    let (dim, heads, tokens, seqs) =
        (draft.extent("D"), draft.extent("H"), draft.extent("T"), draft.extent("S"));
    let snapshots = u64::from(draft.integer("snapshots"));
    let flat = [dim * heads, tokens * seqs + snapshots * dim * seqs, 1, 1];
    let shape = if segmented { [dim, heads, tokens, 1] } else { flat };
    (0..4).for_each(|d| draft.set_open("out", d, shape[d]));
}

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

/// As when many sequences go on together: more heads than draws reach.
#[test]
fn many_heads_give_the_same_answers() {
    let [dim, heads, sequences] = [64, 8, 136];
    let mut b = GraphBuilder::new();
    let row = [dim, heads, 1, sequences];
    let shapes = [
        ("q", row, 1.0),
        ("k", row, 0.125),
        ("v", row, 1.0),
        ("gate", [1, heads, 1, sequences], 0.3),
        ("beta", [1, heads, 1, sequences], 1.0),
        ("state", [dim, dim, heads, sequences], 1.0),
    ];
    let mut random = Random::named("many heads", 0);
    let mut data = Data::new();
    let inputs = shapes.map(|(name, shape, size)| {
        let values: Vec<f32> = (0..shape.iter().product()).map(|_| size * random.unit()).collect();
        let values = if name == "gate" { values.iter().map(|v| -v.abs()).collect() } else { values };
        data.insert(name.to_owned(), run::bytes(&values));
        b.input(name, DType::F32, &shape).unwrap()
    });
    let out = b.op(Op::GatedDeltaNet { snapshots: 1, heads: HeadMap::Tiled }, &inputs).unwrap();
    b.output("out", out).unwrap();
    let graph = Arc::new(b.finish().unwrap());
    let answers = |backend: Arc<dyn Backend>| -> Vec<f32> {
        let outcome = run::run(&graph, &[backend], &Options::default(), &data).unwrap();
        run::floats(&outcome.outputs["out"])
    };
    let want = answers(devices::reference());
    for backend in devices::found() {
        let name = backend.name().to_owned();
        for (at, (got, want)) in answers(backend).iter().zip(&want).enumerate() {
            assert!((got - want).abs() <= 1e-4 * (1.0 + want.abs()), "{name} at {at}: {got}, not {want}");
        }
    }
}
