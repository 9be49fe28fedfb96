//! The small hybrid model in f32 against an independent implementation.

use crate::{bound, exact, fast, largest, models, of};
use weft_tests::fixtures::path;
use weft_tests::refs::References;

#[test]
fn prefill_agrees_however_it_is_cut() {
    let references = References::read(&path("models/qwen35.refs.safetensors.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for model in models(&path("models/qwen35-f32.gguf.zst")) {
        for ubatch in [160, 1, 7, 64, 100] {
            let got = exact(&model, ubatch).evaluate(&ids, false).unwrap();
            let off = largest(&got.logits, &want);
            assert!(off <= bound(&model), "ubatch {ubatch}: {off}");
        }
    }
}

/// Halves and 8-bit activations may be used: whole prompts, short ubatches, single tokens.
#[test]
fn fast_arithmetic_stays_near() {
    const BOUND: f32 = 3e-2;
    let references = References::read(&path("models/qwen35.refs.safetensors.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    let steps = references.floats("dec_logits");
    for model in models(&path("models/qwen35-f32.gguf.zst")) {
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
    let references = References::read(&path("models/qwen35.refs.safetensors.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("dec_logits"));
    for model in models(&path("models/qwen35-f32.gguf.zst")) {
        let mut session = exact(&model, 512);
        session.prefill(&ids[..100]).unwrap();
        for (id, want) in ids[100..].iter().zip(want.chunks(512)) {
            let off = largest(session.decode(*id).unwrap(), want);
            assert!(off <= bound(&model), "{off}");
        }
    }
}

#[test]
fn the_residual_after_each_block_agrees() {
    let references = References::read(&path("models/qwen35.refs.safetensors.zst"));
    let ids = references.ids("ids");
    for model in models(&path("models/qwen35-f32.gguf.zst")) {
        for ubatch in [160, 64] {
            let got = exact(&model, ubatch).evaluate(&ids, true).unwrap();
            for (layer, rows) in got.hidden.iter().enumerate() {
                let off = largest(rows, &references.floats(&format!("hidden_{layer}")));
                assert!(off <= bound(&model), "layer {layer}, ubatch {ubatch}: {off}");
            }
        }
    }
}

#[test]
fn greedy_ids_are_those_of_the_reference() {
    let references = References::read(&path("models/qwen35.refs.safetensors.zst"));
    let (ids, want) = (references.ids("ids"), references.ids("greedy_ids"));
    for model in models(&path("models/qwen35-f32.gguf.zst")) {
        let mut session = exact(&model, 512);
        session.prefill(&ids[..8]).unwrap();
        let got: Vec<u32> = (0..want.len())
            .map(|_| {
                let id = crate::argmax(session.logits()) as u32;
                session.decode(id).unwrap();
                id
            })
            .collect();
        assert_eq!(got, want);
    }
}
