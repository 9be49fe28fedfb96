//! Models against references that other programs computed.

mod cached;
mod contradictions;
mod diff;
mod experts;
mod file;
mod finite;
mod greedy;
mod hybrid;
mod long_context;
mod mixture;
mod outside;
mod quantised;
mod qwen4exp;
mod scales;
mod scaling;
mod speculation;

use std::path::Path;
use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft::session::{Session, SessionOptions};
use weft_core::backend::Backend;
use weft_tests::devices;
use weft_tests::refs::contents;

/// A model from a fixture, on every device found that is not slow.
fn models(path: &Path) -> Vec<Arc<Model>> {
    on(path, devices::quick())
}

/// A model from a fixture, on every device found: for what each must compute like the references.
fn everywhere(path: &Path) -> Vec<Arc<Model>> {
    on(path, devices::found())
}

fn on(path: &Path, devices: Vec<Arc<dyn Backend>>) -> Vec<Arc<Model>> {
    let bytes = contents(path);
    let name = path.display().to_string();
    let open = |backend| Model::new(Gguf::from_bytes(&name, bytes.clone()).unwrap(), vec![backend]).unwrap();
    devices.into_iter().map(open).collect()
}

/// How far logits in exact arithmetic may be from the references: f32 sums in another order move those of the small
/// models by about 1e-5 on the CPU; a GPU's own functions and fused operations by more.
fn bound(model: &Model) -> f32 {
    if model.backends().iter().all(|backend| backend.name() == "cpu") { 1e-4 } else { 2e-3 }
}

/// A session in exact arithmetic.
fn exact(model: &Arc<Model>, ubatch: u64) -> Session {
    Session::new(model, SessionOptions { ubatch, context: 256, ..SessionOptions::exact() }).unwrap()
}

/// A session in the arithmetic that the device prefers.
fn fast(model: &Arc<Model>, ubatch: u64) -> Session {
    Session::new(model, SessionOptions { ubatch, context: 256, ..SessionOptions::default() }).unwrap()
}

/// The name of a model's first device.
fn of(model: &Model) -> &str {
    model.backends()[0].name()
}

/// How far logits are from references.
struct Strayed {
    off: f32,
    divergence: f64,
    /// Rows whose largest value is at the same place, and all rows.
    same: (usize, usize),
}

impl Strayed {
    fn of(got: &[f32], want: &[f32], width: usize) -> Self {
        let same = got.chunks(width).zip(want.chunks(width)).filter(|(g, w)| argmax(g) == argmax(w)).count();
        Strayed {
            off: largest(got, want),
            divergence: divergence(got, want, width),
            same: (same, want.len() / width),
        }
    }

    /// NaN is within nothing.
    fn within(&self, off: f32, divergence: f64, same: f64) -> bool {
        self.off <= off && self.divergence <= divergence && self.same.0 as f64 >= same * self.same.1 as f64
    }
}

impl std::fmt::Display for Strayed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Strayed { off, divergence, same: (same, of) } = self;
        write!(f, "max {off:e}, divergence {divergence:e}, argmax {same} of {of}")
    }
}

/// The largest difference; NaN if there is one anywhere.
fn largest(got: &[f32], want: &[f32]) -> f32 {
    assert_eq!(got.len(), want.len());
    got.iter()
        .zip(want)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, |m, v| if v.is_nan() || m.is_nan() { f32::NAN } else { m.max(v) })
}

/// Mean Kullback-Leibler divergence of softmaxes, row by row.
fn divergence(got: &[f32], want: &[f32], width: usize) -> f64 {
    let softmax = |row: &[f32]| {
        let most = row.iter().fold(f32::NEG_INFINITY, |m, v| m.max(*v));
        let powers: Vec<f64> = row.iter().map(|v| f64::from(v - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(|p| p / sum).collect::<Vec<_>>()
    };
    let rows = got.chunks(width).zip(want.chunks(width));
    let each = rows.map(|(got, want)| {
        softmax(want)
            .iter()
            .zip(softmax(got))
            .map(|(p, q)| if *p > 0.0 { p * (p / q).ln() } else { 0.0 })
            .sum::<f64>()
    });
    let all: Vec<f64> = each.collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// Index of the largest value, ties to the lower.
fn argmax(row: &[f32]) -> usize {
    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}
