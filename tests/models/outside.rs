//! Fixtures that are too large to commit, from the folder that `WEFT_FIXTURES` names. Without it these tests say what they
//! left out.

use crate::{argmax, bound, divergence, exact, largest, models};
use weft::session::{Session, SessionOptions};
use weft_tests::fixtures::outside;
use weft_tests::refs::References;

/// Files of the eleven types that weft decodes.
const FILES: &[&str] = &[
    "qwen35-F16",
    "qwen35k-BF16",
    "qwen35k-Q4_0",
    "qwen35k-Q4_1",
    "qwen35k-Q4_K_M",
    "qwen35k-Q5_0",
    "qwen35k-Q5_1",
    "qwen35k-Q5_K_M",
    "qwen35k-Q6_K",
    "qwen35k-Q8_0",
];

#[test]
fn every_weight_type_equals_its_dequantised_reference() {
    for name in FILES {
        let (file, refs) = (format!("quants/{name}.gguf"), format!("quants/{name}.refs.safetensors"));
        let (Some(file), Some(refs)) = (outside(&file), outside(&refs)) else {
            eprintln!("left out: {name}: set WEFT_FIXTURES to the folder that holds quants/");
            continue;
        };
        let references = References::read(&refs);
        let (ids, want) = (references.ids("ids"), references.floats("logits"));
        for model in models(&file) {
            let off = largest(&exact(&model, 512).evaluate(&ids, false).unwrap().logits, &want);
            eprintln!("{name}: {off:e}");
            assert!(off <= bound(&model), "{name}: {off}");
        }
    }
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
        let options = SessionOptions { context: 256, ..SessionOptions::default() };
        let fast = Session::new(&model, options).unwrap().evaluate(&ids, false).unwrap().logits;
        let width = model.description().hyper().vocabulary as usize;
        let divergence = divergence(&fast, &all, width);
        eprintln!(
            "SmolLM2: logits within {off:e}, fast path's divergence {divergence:e} over {} positions",
            ids.len()
        );
        assert!(off <= bound(&model).max(1e-3) && divergence <= 3.0e-3, "{off} {divergence}");
    }
}
