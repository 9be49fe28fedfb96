//! Quantised files: exact arithmetic against dequantised weights, and how far the fast arithmetic may stray.

use crate::{argmax, bound, divergence, exact, largest, models};
use weft::session::{Session, SessionOptions};
use weft_tests::fixtures::path;
use weft_tests::refs::References;

#[test]
fn exact_arithmetic_equals_dequantised_weights() {
    let references = References::read(&path("models/qwen35k-Q4_K_M.refs.safetensors.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for model in models(&path("models/qwen35k-Q4_K_M.gguf.zst")) {
        let got = exact(&model, 512).evaluate(&ids, false).unwrap();
        let off = largest(&got.logits, &want);
        assert!(off <= bound(&model), "{off}");
    }
}

#[test]
fn fast_arithmetic_is_no_further_off_than_a_known_engine() {
    let references = References::read(&path("models/qwen35k-Q4_K_M.refs.safetensors.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for model in models(&path("models/qwen35k-Q4_K_M.gguf.zst")) {
        let options = SessionOptions { context: 256, ..SessionOptions::default() };
        let got = Session::new(&model, options).unwrap().evaluate(&ids, false).unwrap().logits;
        let same = got.chunks(512).zip(want.chunks(512)).filter(|(g, w)| argmax(g) == argmax(w)).count();
        let (off, divergence) = (largest(&got, &want), divergence(&got, &want, 512));
        eprintln!("max {off}, divergence {divergence:e}, argmax {same} of {}", ids.len());
        // The row of this file in the fixture's own table, for an engine that also rounds activations to 8 bits.
        assert!(off <= 0.63 && divergence <= 1.3e-3 && same as f64 >= 0.89 * ids.len() as f64);
    }
}
