//! Quantised files: exact arithmetic against dequantised weights, and how far the fast arithmetic may stray.

use crate::{Strayed, bound, exact, fast, largest, models, of};
use weft_tests::fixtures::path;
use weft_tests::refs::References;

#[test]
fn exact_arithmetic_equals_dequantised_weights() {
    let references = References::read(&path("models/qwen35k-Q4_K_M.refs.safetensors.planes.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for model in models(&path("models/qwen35k-Q4_K_M.gguf.zst")) {
        let got = exact(&model, 512).evaluate(&ids, false).unwrap();
        let off = largest(&got.logits, &want);
        assert!(off <= bound(&model), "{off}");
    }
}

#[test]
fn fast_arithmetic_is_no_further_off_than_a_known_engine() {
    let references = References::read(&path("models/qwen35k-Q4_K_M.refs.safetensors.planes.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for model in models(&path("models/qwen35k-Q4_K_M.gguf.zst")) {
        let got = Strayed::of(&fast(&model, 512).evaluate(&ids, false).unwrap().logits, &want, 512);
        eprintln!("Q4_K_M on {}: {got}", of(&model));
        // The row of this file in the fixture's own table, for an engine that also rounds activations to 8 bits.
        assert!(got.within(0.63, 1.3e-3, 0.89), "{got}");
    }
}
