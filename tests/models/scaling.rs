//! Contexts longer than those of training, and as long as models allow: rotary scaling against numbers computed apart, and
//! plans of 262,144 tokens.

use crate::file::File;
use std::sync::Arc;
use weft::gguf::Gguf;
use weft::models::{Batch, Description, Hyper, Rows};
use weft::session::{Speculation, speculation_bytes};
use weft_core::driver::Options;
use weft_core::graph::{DType, Graph, GraphBuilder, Op, Owner, Rope, RopeKind};
use weft_tests::graphs::models::{MODELS, described};
use weft_tests::graphs::plan_for;
use weft_tests::run::{Data, bytes, int_bytes, run};
use weft_tests::{Random, devices};

/// Rotated dimensions of a head as wide as published models'.
const DIMS: usize = 64;
const WIDTH: usize = 256;
const BASE: f64 = 1e7;

fn described_as(keys: &[(&str, f32)], kind: &str, trained: u32) -> Description {
    let file = File::read("qwen35")
        .with("qwen35.rope.scaling.type", kind)
        .with("qwen35.rope.scaling.original_context_length", trained);
    let with =
        |file: File, (key, value): &(&str, f32)| file.with(&format!("qwen35.rope.scaling.{key}"), *value);
    let file = keys.iter().fold(file, with);
    Description::new(Arc::new(Gguf::from_bytes("scaled.gguf", file.written()).unwrap())).unwrap()
}

/// The rotary embedding of a file's graph, at the width and with the sections of published models.
fn rope(model: &Description) -> Rope {
    let graph = model.graph(&Batch::token(64, DType::F16.into())).unwrap();
    let found = graph.nodes.iter().find_map(|node| match node.op {
        Op::Rope(rope) => Some(rope),
        _ => None,
    });
    let rope = found.unwrap();
    assert_eq!(rope.kind, RopeKind::MultiSection);
    Rope { dims: DIMS as u32, sections: [11, 11, 10, 0], base: BASE as f32, ..rope }
}

/// Turns rows of one head by these angles of each pair and this factor.
fn turned(x: &[f32], angle: impl Fn(usize, usize) -> f64, magnitude: f64) -> Vec<f32> {
    let mut out = x.to_vec();
    for (token, row) in out.chunks_mut(WIDTH).enumerate() {
        for pair in 0..DIMS / 2 {
            let (sin, cos) = angle(token, pair).sin_cos();
            let (a, b) = (f64::from(row[pair]), f64::from(row[pair + DIMS / 2]));
            row[pair] = ((a * cos - b * sin) * magnitude) as f32;
            row[pair + DIMS / 2] = ((a * sin + b * cos) * magnitude) as f32;
        }
    }
    out
}

/// Holds what devices make of an embedding to angles per pair: `frequency[pair]` times the position on `axis[pair]`.
fn holds(what: &str, rope: Rope, positions: &[[i32; 4]], frequency: &[f64], axis: &[usize], magnitude: f64) {
    let tokens = positions.len();
    let mut b = GraphBuilder::new();
    let x = b.input("x", DType::F32, &[WIDTH as u64, 1, tokens as u64]).unwrap();
    let at = b.input("positions", DType::I32, &[4 * tokens as u64]).unwrap();
    let out = b.apply(Op::Rope(rope), &[Some(x), Some(at), None]).unwrap()[0];
    b.output("out", out).unwrap();
    let graph = Arc::new(b.finish().unwrap());
    let mut random = Random::named(what, 1);
    let values: Vec<f32> = (0..WIDTH * tokens).map(|_| random.unit()).collect();
    let by_axis: Vec<i32> = (0..4).flat_map(|axis| positions.iter().map(move |p| p[axis])).collect();
    let data: Data = [("x".to_owned(), bytes(&values)), ("positions".to_owned(), int_bytes(&by_axis))]
        .into_iter()
        .collect();
    let angle = |token: usize, pair: usize| f64::from(positions[token][axis[pair]]) * frequency[pair];
    let want = turned(&values, angle, magnitude);
    for device in devices::quick() {
        let name = device.name().to_owned();
        let got = run(&graph, &[device], &Options { exact: true, ..Options::default() }, &data).unwrap();
        let off = crate::largest(&got.output("out"), &want);
        eprintln!("{what} on {name}: {off:e}");
        assert!(off <= 1e-3, "{what} on {name}: {off}");
    }
}

/// Text: the same position on three axes.
fn text(positions: &[i32]) -> Vec<[i32; 4]> {
    positions.iter().map(|p| [*p, *p, *p, 0]).collect()
}

fn full(pair: usize) -> f64 {
    BASE.powf(-2.0 * pair as f64 / DIMS as f64)
}

#[test]
fn yarn_mixes_as_published() {
    // 64·ln(262144/(32·2π)) / (2·ln 1e7) = 14.24 and 64·ln(262144/2π) / (2·ln 1e7) = 21.12, rounded down and up.
    let (low, high) = (14.0, 22.0);
    let mixed = |mix: f64| -> Vec<f64> {
        let share = |pair: usize| mix * (1.0 - ((pair as f64 - low) / (high - low)).clamp(0.0, 1.0));
        (0..DIMS / 2).map(|pair| full(pair) * (share(pair) + (1.0 - share(pair)) / 4.0)).collect()
    };
    let positions = text(&[0, 1, 77, 1500, 2047]);
    let axis = [0; DIMS / 2];
    // 1 + ln(4)/10.
    let correction = 1.138_629_436_111_989;
    let plain = rope(&described_as(&[("factor", 4.0)], "yarn", 262_144));
    holds("yarn", plain, &positions, &mixed(1.0), &axis, correction);
    let keys = [("factor", 4.0), ("attn_factor", 0.5), ("yarn_ext_factor", 0.25)];
    let half = rope(&described_as(&keys, "yarn", 262_144));
    holds("yarn, a quarter of it", half, &positions, &mixed(0.25), &axis, 0.5 * correction);
    let defaults = [("factor", 4.0), ("yarn_beta_fast", 32.0), ("yarn_beta_slow", 1.0)];
    assert_eq!(rope(&described_as(&defaults, "yarn", 262_144)), plain);
}

#[test]
fn linear_scaling_and_none() {
    let positions = text(&[0, 5, 2047]);
    let axis = [0; DIMS / 2];
    let quarter: Vec<f64> = (0..DIMS / 2).map(|pair| full(pair) / 4.0).collect();
    let whole: Vec<f64> = (0..DIMS / 2).map(full).collect();
    let keys = [("factor", 4.0), ("attn_factor", 0.5)];
    holds("linear", rope(&described_as(&keys, "linear", 64)), &positions, &quarter, &axis, 0.5);
    holds("none", rope(&described_as(&[("factor", 4.0)], "none", 64)), &positions, &whole, &axis, 1.0);
}

#[test]
fn sections_take_their_axes() {
    // Time 0, 3, …, 30; height 1, 4, …, 31; width 2, 5, …, 29.
    let mut axis = [9; DIMS / 2];
    (0..=30).step_by(3).for_each(|pair| axis[pair] = 0);
    (1..=31).step_by(3).for_each(|pair| axis[pair] = 1);
    (2..=29).step_by(3).for_each(|pair| axis[pair] = 2);
    let positions = [[3, 50, 700, 9], [2000, 1, 40, 9], [0, 11, 22, 33]];
    let whole: Vec<f64> = (0..DIMS / 2).map(full).collect();
    holds("sections", rope(&described_as(&[], "none", 64)), &positions, &whole, &axis, 1.0);
}

#[test]
fn what_of_yarn_is_not_computed_is_refused_by_name() {
    for (key, value) in [
        ("yarn_beta_fast", 64.0f32),
        ("yarn_beta_slow", 2.0),
        ("yarn_attn_factor", 2.0),
        ("yarn_log_multiplier", 0.1),
        ("yarn_ext_factor", 7.0),
    ] {
        let whole = format!("qwen35.rope.scaling.{key}");
        let file = File::read("qwen35").with("qwen35.rope.scaling.type", "yarn").with(&whole, value);
        let error = crate::file::refused(&file).to_string();
        assert!(error.contains(&format!("rope.scaling.{key}")), "{error}");
    }
}

fn states(graph: &Graph) -> u64 {
    graph.storages.iter().filter(|s| s.owner == Owner::State).map(|s| s.bytes).sum()
}

/// Keys and values of a token, and the recurrent state of a sequence, in bytes; from published sizes.
#[test]
fn the_longest_contexts_plan() {
    const CELLS: u64 = 262_144;
    for (arch, size, per_token, recurrent) in [
        ("qwen35", "27b", 65_536, 149.6),
        ("qwen35moe", "35b-a3b", 20_480, 62.8),
        ("qwen3next", "80b-a3b", 24_576, 75.4),
    ] {
        let model = described(arch, size);
        let Hyper { context, .. } = *model.hyper();
        assert!(context >= CELLS, "{arch} {size}: {context}");
        for (tokens, rows) in [(1, Rows::All), (512, Rows::Some(1))] {
            let graph = Arc::new(
                model.graph(&Batch { tokens, rows, ..Batch::token(CELLS, DType::F16.into()) }).unwrap(),
            );
            let rest = states(&graph) - per_token * CELLS;
            assert!((rest as f64 / f64::from(1 << 20) - recurrent).abs() < 0.1, "{arch} {size}: {rest}");
            let plan = plan_for(&graph, &[devices::cpu(&Default::default())], &Options::default()).unwrap();
            // Activations do not grow with the context.
            let short = Batch { tokens, rows, ..Batch::token(4096, DType::F16.into()) };
            let short = Arc::new(model.graph(&short).unwrap());
            let short = plan_for(&short, &[devices::cpu(&Default::default())], &Options::default()).unwrap();
            assert_eq!(plan.census().arena_bytes, short.census().arena_bytes, "{arch} {size}");
        }
        if model.drafts().unwrap() {
            let more = speculation_bytes(&model, CELLS, DType::F16.into(), &Speculation::default()).unwrap();
            assert!(more > 3 * ((recurrent - 6.0) * f64::from(1 << 20)) as u64, "{arch} {size}: {more}");
        }
    }
}

#[test]
fn every_architecture_plans_the_longest_context() {
    for (arch, size) in MODELS {
        let model = described(arch, size);
        for (tokens, rows) in [(1, Rows::All), (512, Rows::Some(1))] {
            let batch = Batch { tokens, rows, ..Batch::token(262_144, DType::F16.into()) };
            let graph = Arc::new(model.graph(&batch).unwrap());
            let plan = plan_for(&graph, &[devices::cpu(&Default::default())], &Options::default());
            assert_eq!(plan.unwrap().census().splits, 1, "{arch} {size}");
        }
    }
}
