//! Sessions: cuts, cancelling, limits, stops, sampling on devices, lost devices, and observers that change nothing.

mod counters;
mod generate;
mod limits;
mod lost;
mod neutral;
mod observers;
mod sampling;

use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft_core::backend::Backend;
use weft_tests::devices;
use weft_tests::fixtures::path;
use weft_tests::refs::contents;

/// The default model on one device.
fn model(backend: Arc<dyn Backend>) -> Arc<Model> {
    Model::open(path("../../models/weft-tales-12m.Q8_0.gguf"), vec![backend]).unwrap()
}

/// The default model on every device found, for what its text shows. A software adapter takes about a second for a token.
fn storytellers() -> Vec<Arc<Model>> {
    devices::found().into_iter().map(model).collect()
}

/// A small model of the same kind on one device; what it says means nothing.
fn small(backend: Arc<dyn Backend>) -> Arc<Model> {
    let file = path("models/qwen35k-Q4_K_M.gguf.zst");
    Model::new(Gguf::from_bytes("small", contents(&file)).unwrap(), vec![backend]).unwrap()
}

/// The small model on every device found, and the default model on the CPU.
fn models() -> Vec<Arc<Model>> {
    let small = devices::found().into_iter().map(small);
    small.chain([model(devices::cpu(&Default::default()))]).collect()
}

/// The size of a model's vocabulary.
fn vocabulary(model: &Model) -> u64 {
    model.description().hyper().vocabulary
}

/// Ids of some length without meaning, in the vocabulary of every model here.
fn ids(count: u32) -> Vec<u32> {
    (0..count).map(|i| 3 + i * 37 % 500).collect()
}
