//! Runs hybrid Gated-DeltaNet language models from GGUF files.
pub mod gguf;
pub mod models;
pub mod synth;
pub mod template;
pub mod tokenizer;
