//! What only the wgpu backend has: adapters and limits, memory, submissions, failures, repacked weights.

mod adapters;
mod failures;
mod hashes;
mod limits;
mod mixtures;
mod repack;
mod submissions;

use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft::session::{Session, SessionOptions};
use weft_core::backend::Backend;
use weft_tests::devices;
use weft_tests::fixtures::path;
use weft_tests::refs::{References, contents};
use weft_wgpu::{Options, Wgpu};

/// The small hybrid model on these devices.
fn model(backends: Vec<Arc<dyn Backend>>) -> Arc<Model> {
    hybrid("models/qwen35k-Q4_K_M.gguf.zst", backends)
}

/// A model of the fixtures on these devices.
fn hybrid(file: &str, backends: Vec<Arc<dyn Backend>>) -> Arc<Model> {
    let file = path(file);
    Model::new(Gguf::from_bytes(&file.display().to_string(), contents(&file)).unwrap(), backends).unwrap()
}

/// Token ids of the small model's references.
fn ids() -> Vec<u32> {
    References::read(&path("models/qwen35k-Q4_K_M.refs.safetensors.planes.zst")).ids("ids")
}

/// A session in exact arithmetic.
fn session(model: &Arc<Model>) -> Session {
    Session::new(model, SessionOptions { context: 256, ..SessionOptions::exact() }).unwrap()
}

/// Every adapter, opened with the options of tests changed by `change`.
fn gpus(change: impl Fn(&mut Options)) -> Vec<Arc<Wgpu>> {
    let mut options = devices::options();
    change(&mut options);
    devices::gpus(&options)
}

/// The largest difference; NaN if there is one anywhere.
fn largest(got: &[f32], want: &[f32]) -> f32 {
    assert_eq!(got.len(), want.len());
    let off = got.iter().zip(want).map(|(a, b)| (a - b).abs());
    off.fold(0.0, |m, v| if v.is_nan() || m.is_nan() { f32::NAN } else { m.max(v) })
}
