//! The small hybrid models in f32 against an independent implementation.

use crate::{argmax, bound, everywhere, exact, fast, largest, models, of};
use std::sync::Arc;
use weft::Model;
use weft_tests::fixtures::{outside, path};
use weft_tests::refs::References;

/// Width of a row of logits.
const VOCABULARY: usize = 512;

/// A model on every device, and what it should give.
pub struct Case {
    pub name: &'static str,
    pub references: References,
    pub models: Vec<Arc<Model>>,
}

/// The committed models, and those of the folder in `WEFT_FIXTURES`.
pub fn cases() -> Vec<Case> {
    let committed = ["qwen35", "qwen35moe", "qwen4exp"].map(|name| {
        // Those of the folder hold more.
        let references = outside(&format!("models/{name}.refs.safetensors"));
        let committed = path(&format!("models/{name}.refs.safetensors.planes.zst"));
        (name, path(&format!("models/{name}-f32.gguf.planes.zst")), references.unwrap_or(committed))
    });
    let mut all = committed.to_vec();
    let file = |kind| outside(&format!("models/qwen3next{kind}"));
    match (file("-f32.gguf"), file(".refs.safetensors")) {
        (Some(model), Some(references)) => all.push(("qwen3next", model, references)),
        _ => eprintln!("left out: qwen3next: set WEFT_FIXTURES to the folder that holds models/"),
    }
    let open = |(name, model, references): (_, std::path::PathBuf, std::path::PathBuf)| Case {
        name,
        references: References::read(&references),
        models: everywhere(&model),
    };
    all.into_iter().map(open).collect()
}

impl Case {
    /// Rows `from..` of a reference against what a model gave, `width` values a row. A row that is off, but whose experts or
    /// blocks stand so near to each other that an error within the bound may choose others, is left out and counted.
    pub fn check(&self, model: &Model, what: &str, got: &[f32], from: usize, width: usize) {
        let (want, bound, gaps) = (self.references.floats(what), bound(model), self.gaps());
        assert_eq!(got.len(), want.len());
        let offs = got.chunks(width).zip(want.chunks(width)).map(|(got, want)| largest(got, want));
        let (mut most, mut left) = (0.0f32, 0);
        for (row, off) in offs.enumerate() {
            if off > bound && gaps.get(from + row).is_some_and(|gap| *gap <= bound) {
                left += 1;
            } else {
                most = if off.is_nan() { f32::NAN } else { most.max(off) };
            }
            assert!(!most.is_nan(), "{what}, row {row}");
        }
        let (name, device, rows) = (self.name, model.backends()[0].name(), got.len() / width);
        eprintln!("{name} on {device}, {what}: {most:e} over {rows} rows, {left} left out");
        assert!(most <= bound && left * 20 <= rows, "{name} on {device}, {what}: {most}, {left} left out");
    }

    /// By position, the smallest gap of any layer between the last expert or block chosen and the first one not.
    fn gaps(&self) -> Vec<f32> {
        let of = |name| self.references.maybe_floats(name).unwrap_or_default();
        let all = [of("router_gap"), of("qsa_gap")].concat();
        let positions = self.references.ids("ids").len().min(all.len());
        (0..positions)
            .map(|at| all[at..].iter().step_by(positions).copied().fold(f32::MAX, f32::min))
            .collect()
    }
}

#[test]
fn prefill_agrees_however_it_is_cut() {
    for case in cases() {
        let ids = case.references.ids("ids");
        for model in &case.models {
            // Software GPUs are slow; single tokens have a test of their own.
            let on_cpu = model.backends()[0].name() == "cpu";
            let cuts: &[u64] = if on_cpu { &[160, 1, 7, 64, 100] } else { &[160, 7, 64] };
            for &ubatch in cuts {
                let got = exact(model, ubatch).evaluate(&ids, false).unwrap();
                case.check(model, "logits", &got.logits, 0, VOCABULARY);
            }
        }
    }
}

/// Halves and 8-bit activations may be used: whole prompts, short ubatches, single tokens.
#[test]
fn fast_arithmetic_stays_near() {
    const BOUND: f32 = 3e-2;
    let references = References::read(&path("models/qwen35.refs.safetensors.planes.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    let steps = references.floats("dec_logits");
    for model in models(&path("models/qwen35-f32.gguf.planes.zst")) {
        for ubatch in [160, 7] {
            let off = largest(&fast(&model, ubatch).evaluate(&ids, false).unwrap().logits, &want);
            eprintln!("fast on {}, ubatch {ubatch}: {off:e}", of(&model));
            assert!(off <= BOUND, "{}, ubatch {ubatch}: {off}", of(&model));
        }
        let mut session = fast(&model, 512);
        session.prefill(&ids[..100]).unwrap();
        for (id, want) in ids[100..].iter().zip(steps.chunks(512)) {
            let off = largest(session.decode(*id).unwrap(), want);
            assert!(off <= BOUND, "{}, decoding: {off}", of(&model));
        }
    }
}

#[test]
fn decoding_one_by_one_agrees() {
    for case in cases() {
        let ids = case.references.ids("ids");
        for model in &case.models {
            let mut session = exact(model, 512);
            session.prefill(&ids[..100]).unwrap();
            let got: Vec<f32> =
                ids[100..].iter().flat_map(|id| session.decode(*id).unwrap().to_vec()).collect();
            case.check(model, "dec_logits", &got, 100, VOCABULARY);
        }
    }
}

#[test]
fn the_residual_after_each_block_agrees() {
    for case in cases() {
        let ids = case.references.ids("ids");
        for model in &case.models {
            for ubatch in [160, 64] {
                let got = exact(model, ubatch).evaluate(&ids, true).unwrap();
                for (layer, rows) in got.hidden.iter().enumerate() {
                    if case.references.maybe_floats(&format!("hidden_{layer}")).is_none() {
                        eprintln!("left out: {} has no reference of block {layer}", case.name);
                        continue;
                    }
                    case.check(model, &format!("hidden_{layer}"), rows, 0, rows.len() / ids.len());
                }
            }
        }
    }
}

#[test]
fn greedy_ids_are_those_of_the_reference() {
    for case in cases() {
        let (ids, want) = (case.references.ids("ids"), case.references.ids("greedy_ids"));
        for model in &case.models {
            let mut session = exact(model, 512);
            session.prefill(&ids[..8]).unwrap();
            let got: Vec<u32> = (0..want.len())
                .map(|_| {
                    let id = argmax(session.logits()) as u32;
                    session.decode(id).unwrap();
                    id
                })
                .collect();
            assert_eq!(got, want, "{} on {}", case.name, model.backends()[0].name());
        }
    }
}
