//! Files made by other programs.

use weft::gguf::{Gguf, Strings};
use weft_core::graph::DType;

use crate::raw::walk;

#[test]
fn the_default_model_reads() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/weft-tales-12m.Q8_0.gguf");
    let model = Gguf::open(path).unwrap();
    assert_eq!(model.get_str("general.architecture").unwrap(), "qwen35");
    let tokens: Strings = model.get("tokenizer.ggml.tokens").unwrap();
    let embedding = model.tensor("token_embd.weight").unwrap();
    assert_eq!(embedding.dtype, DType::Q8_0);
    assert_eq!(embedding.shape[1], tokens.len() as u64);
    assert!(tokens.clone().count() == tokens.len());
    assert!(walk(&model) > 0);
}
