//! Quantised files: exact arithmetic against dequantised weights, and how far the fast arithmetic may stray.

use crate::{Strayed, bound, everywhere, exact, fast, largest, of};
use weft_tests::fixtures::path;
use weft_tests::refs::References;

/// A committed file of each family of blocks, and the row of the fixtures' own table for an engine that also rounds
/// activations to 8 bits: largest difference, mean divergence, share of equal choices. IQ1_S has matrices of Q2_K, IQ2_XXS,
/// Q4_K and Q5_K too.
const FILES: &[(&str, f32, f64, f64)] =
    &[("qwen35k-Q4_K_M", 0.63, 1.3e-3, 0.89), ("qwen35k-IQ1_S", 0.47, 1.6e-3, 0.89)];

#[test]
fn exact_arithmetic_equals_dequantised_weights() {
    for (name, ..) in FILES {
        let references = References::read(&path(&format!("models/{name}.refs.safetensors.planes.zst")));
        let (ids, want) = (references.ids("ids"), references.floats("logits"));
        for model in everywhere(&path(&format!("models/{name}.gguf.zst"))) {
            let got = exact(&model, 512).evaluate(&ids, false).unwrap();
            let off = largest(&got.logits, &want);
            assert!(off <= bound(&model), "{name} on {}: {off}", of(&model));
        }
    }
}

#[test]
fn fast_arithmetic_is_no_further_off_than_a_known_engine() {
    for (name, off, divergence, same) in FILES {
        let references = References::read(&path(&format!("models/{name}.refs.safetensors.planes.zst")));
        let (ids, want) = (references.ids("ids"), references.floats("logits"));
        for model in everywhere(&path(&format!("models/{name}.gguf.zst"))) {
            let got = Strayed::of(&fast(&model, 512).evaluate(&ids, false).unwrap().logits, &want, 512);
            eprintln!("{name} on {}: {got}", of(&model));
            assert!(got.within(*off, *divergence, *same), "{name} on {}: {got}", of(&model));
        }
    }
}
