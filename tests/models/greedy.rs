//! The embedded default model against stored answers.

use crate::{argmax, bound, everywhere, exact, largest};
use serde_json::Value;
use weft_tests::fixtures::path;
use weft_tests::refs::References;

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
}

#[test]
fn the_default_model_gives_the_stored_answers_and_logits() {
    let stored: Value =
        serde_json::from_slice(&std::fs::read(path("models/weft-tales-greedy.json")).unwrap()).unwrap();
    let logits = References::read(&path("models/weft-tales-logits.safetensors.planes.zst"));
    for model in everywhere(&path("../../models/weft-tales-12m.Q8_0.gguf")) {
        for (number, item) in stored["items"].as_array().unwrap().iter().enumerate() {
            let prompt = ids(&item["prompt_ids"]);
            let text = item["text"].as_str().unwrap();
            let options = weft::tokenizer::EncodeOptions { add_special: false, parse_special: true };
            assert_eq!(model.tokenizer().encode(text, options).unwrap(), prompt);
            let mut session = exact(&model, 512);
            session.prefill(&prompt).unwrap();
            let off = largest(session.logits(), &logits.floats(&format!("logits_{number}")));
            assert!(off <= bound(&model).max(1e-3), "item {number}: {off}");
            let want = ids(&item["greedy_ids"]);
            let got: Vec<u32> = (0..want.len())
                .map(|_| {
                    let id = argmax(session.logits()) as u32;
                    session.decode(id).unwrap();
                    id
                })
                .collect();
            assert_eq!(got, want, "item {number}");
        }
    }
}
