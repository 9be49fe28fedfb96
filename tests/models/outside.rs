//! Fixtures that are too large to commit, from the folder that `WEFT_FIXTURES` names. Without it these tests say what they
//! left out.

use crate::{Strayed, argmax, bound, divergence, exact, fast, largest, models, of};
use weft_tests::fixtures::outside;
use weft_tests::refs::References;

/// A file of each of the types in the fixtures, and how far a known engine strays on it, from the fixtures' own table:
/// largest difference, mean divergence, share of equal choices.
const FILES: &[(&str, f32, f64, f64)] = &[
    ("qwen35-F16", 0.01, 4.8e-7, 1.00),
    ("qwen35k-BF16", 0.09, 3.1e-5, 0.99),
    ("qwen35k-Q4_0", 0.39, 5.0e-4, 0.97),
    ("qwen35k-Q4_1", 0.36, 5.7e-4, 0.92),
    ("qwen35k-Q4_K_M", 0.63, 1.3e-3, 0.89),
    ("qwen35k-Q5_0", 0.57, 5.7e-4, 0.96),
    ("qwen35k-Q5_1", 0.42, 5.8e-4, 0.97),
    ("qwen35k-Q5_K_M", 0.40, 1.1e-3, 0.93),
    ("qwen35k-Q6_K", 0.73, 1.3e-3, 0.91),
    ("qwen35k-Q8_0", 0.24, 4.7e-4, 0.96),
    ("qwen35k-Q2_K", 0.60, 1.4e-3, 0.96),
    ("qwen35k-Q3_K_M", 0.35, 1.0e-3, 0.93),
    ("qwen35k-IQ1_S", 0.47, 1.6e-3, 0.89),
    ("qwen35k-IQ1_M", 0.61, 1.5e-3, 0.91),
    ("qwen35k-IQ2_XXS", 0.41, 1.2e-3, 0.91),
    ("qwen35k-IQ2_XS", 0.46, 1.3e-3, 0.93),
    ("qwen35k-IQ2_S", 0.40, 1.3e-3, 0.92),
    ("qwen35k-IQ2_M", 0.50, 1.2e-3, 0.91),
    ("qwen35k-IQ3_XXS", 1.01, 1.5e-3, 0.94),
    ("qwen35k-IQ3_S", 0.33, 1.1e-3, 0.93),
    ("qwen35k-IQ4_NL", 0.36, 4.5e-4, 0.97),
    ("qwen35k-IQ4_XS", 0.94, 1.5e-3, 0.95),
    ("qwen35k-MXFP4", 0.26, 4.3e-4, 0.93),
    ("qwen35k-NVFP4", 0.33, 5.0e-4, 0.94),
    ("qwen35k-TQ1_0", 0.39, 1.4e-3, 0.96),
    ("qwen35k-TQ2_0", 0.39, 1.4e-3, 0.96),
    ("qwen35moe-MXFP4_MOE", 0.68, 1.4e-3, 0.88),
    ("qwen35moe-Q4_0", 0.81, 1.5e-3, 0.90),
    ("qwen35moe-Q8_0", 1.02, 2.3e-3, 0.91),
];

/// Token positions of a file that are decoded one by one: kernels for one column are others than those for many.
const DECODED: usize = 8;

#[test]
fn every_weight_type_equals_its_dequantised_reference_and_its_fast_path_stays_near() {
    // All files are run before any of them fails the test.
    let mut misses = Vec::new();
    for (name, off, divergence, same) in FILES {
        let (file, refs) = (format!("quants/{name}.gguf"), format!("quants/{name}.refs.safetensors"));
        let (Some(file), Some(refs)) = (outside(&file), outside(&refs)) else {
            eprintln!("left out: {name}: set WEFT_FIXTURES to the folder that holds quants/");
            continue;
        };
        let references = References::read(&refs);
        let (ids, want) = (references.ids("ids"), references.floats("logits"));
        for model in models(&file) {
            let device = of(&model);
            let whole = largest(&exact(&model, 512).evaluate(&ids, false).unwrap().logits, &want);
            let start = ids.len() - DECODED;
            let mut session = exact(&model, 512);
            session.prefill(&ids[..start]).unwrap();
            let decoded: Vec<f32> =
                ids[start..].iter().flat_map(|id| session.decode(*id).unwrap().to_vec()).collect();
            let stepwise = largest(&decoded, &want[want.len() - decoded.len()..]);
            let got = Strayed::of(&fast(&model, 512).evaluate(&ids, false).unwrap().logits, &want, 512);
            let told = format!("{name} on {device}: exact {whole:e}, decoding {stepwise:e}; fast {got}");
            eprintln!("{told}");
            let is_exact = whole <= bound(&model) && stepwise <= bound(&model);
            // The CPU rounds activations to 8 bits as that engine does: an error of the same size that lands elsewhere, so
            // on some files one of the three is larger. It is told, and held to its bound on the committed file.
            let is_near = device == "cpu" || got.within(*off, *divergence, *same);
            if !(is_exact && is_near) {
                misses.push(told);
            }
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

#[test]
fn smollm2_gives_the_reference_ids_and_its_fast_path_stays_near() {
    let (Some(file), Some(refs)) =
        (outside("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"), outside("smollm2/refs.safetensors"))
    else {
        eprintln!("left out: SmolLM2: put its Q4_1 file and refs.safetensors into WEFT_FIXTURES/smollm2");
        return;
    };
    let references = References::read(&refs);
    let (prompt, want) = (references.ids("ids"), references.ids("greedy_ids"));
    for model in models(&file) {
        let mut session = exact(&model, 512);
        let first = session.evaluate(&prompt, false).unwrap();
        let off = largest(&first.logits, &references.floats("logits"));
        let mut all = first.logits;
        let got: Vec<u32> = (0..want.len())
            .map(|_| {
                let id = argmax(session.logits()) as u32;
                all.extend(session.decode(id).unwrap());
                id
            })
            .collect();
        assert_eq!(got, want);
        let ids: Vec<u32> = prompt.iter().chain(&want).copied().collect();
        let fast = fast(&model, 512).evaluate(&ids, false).unwrap().logits;
        let width = model.description().hyper().vocabulary as usize;
        let divergence = divergence(&fast, &all, width);
        eprintln!(
            "SmolLM2 on {}: logits within {off:e}, fast path's divergence {divergence:e} over {} positions",
            of(&model),
            ids.len()
        );
        assert!(off <= bound(&model).max(1e-3) && divergence <= 3.0e-3, "{off} {divergence}");
    }
}
