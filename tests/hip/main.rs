//! What only the HIP backend has: its runtime, submissions, failures, repacked weights, and whole models on stand-ins.

mod failures;
mod graphs;
mod loading;
mod models;
mod submissions;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft::session::{Session, SessionOptions};
use weft_core::backend::Backend;
use weft_hip::{Hip, Options};
use weft_tests::fixtures::path;
use weft_tests::hip;
use weft_tests::refs::{References, contents};

/// The small hybrid model on these devices.
fn model(backends: Vec<Arc<dyn Backend>>) -> Arc<Model> {
    from_file(&path("models/qwen35k-Q4_K_M.gguf.zst"), backends)
}

/// A model of the fixtures on these devices.
fn from_file(file: &Path, backends: Vec<Arc<dyn Backend>>) -> Arc<Model> {
    Model::new(Gguf::from_bytes(&file.display().to_string(), contents(file)).unwrap(), backends).unwrap()
}

/// Token ids of the small model's references.
fn ids() -> Vec<u32> {
    References::read(&path("models/qwen35k-Q4_K_M.refs.safetensors.planes.zst")).ids("ids")
}

/// A session in exact arithmetic.
fn session(model: &Arc<Model>) -> Session {
    Session::new(model, SessionOptions { context: 256, ..SessionOptions::exact() }).unwrap()
}

/// Every device of this machine, stand-ins included.
fn all() -> Vec<Arc<Hip>> {
    hip::real().iter().chain(hip::stand_ins()).cloned().collect()
}

/// The same, opened anew with the options of tests changed by `change`.
fn opened(change: impl Fn(&mut Options)) -> Vec<Arc<Hip>> {
    hip::open(hip::all_options(change))
}

/// Runs a test of this program by itself in a process of its own, where the stand-ins find these in their environment. True in
/// that process, which is to do the test; false in this one, where it is done.
fn alone(test: &str, variables: &[(&str, &str)]) -> bool {
    if variables.iter().all(|(name, value)| std::env::var_os(name).is_some_and(|set| set == *value)) {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    let output = command.args(["--exact", test]).envs(variables.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{test}: {said}");
    false
}

/// The largest difference; NaN if there is one anywhere.
fn largest(got: &[f32], want: &[f32]) -> f32 {
    assert_eq!(got.len(), want.len());
    let off = got.iter().zip(want).map(|(a, b)| (a - b).abs());
    off.fold(0.0, |m, v| if v.is_nan() || m.is_nan() { f32::NAN } else { m.max(v) })
}
