//! Sessions: cuts, cancelling, limits, stops, sampling on devices, lost devices, and observers that change nothing.

mod generate;
mod limits;
mod lost;
mod observers;
mod sampling;

use std::sync::Arc;
use weft::Model;
use weft_core::backend::Backend;
use weft_tests::devices;

/// The default model on one device.
fn model(backend: Arc<dyn Backend>) -> Arc<Model> {
    Model::open(weft_tests::fixtures::path("../../models/weft-tales-12m.Q8_0.gguf"), vec![backend]).unwrap()
}

/// The default model on every device found.
fn models() -> Vec<Arc<Model>> {
    devices::found().into_iter().map(model).collect()
}

/// Ids of some length without meaning.
fn ids(count: u32) -> Vec<u32> {
    (0..count).map(|i| 3 + i * 37 % 8000).collect()
}
