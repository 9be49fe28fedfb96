//! Devices with less: the same answers.

use crate::{gpus, hybrid, largest, session};
use weft::session::{Session, SessionOptions};
use weft_tests::fixtures::path;
use weft_tests::refs::References;
use weft_wgpu::{Bounds, Options};

/// Logits of the small models with these options, against their references.
fn agrees(what: &str, ubatch: u64, change: impl Fn(&mut Options)) {
    for gpu in gpus(change) {
        for (name, file) in
            [("qwen35", "qwen35-f32.gguf.planes.zst"), ("qwen35k-Q4_K_M", "qwen35k-Q4_K_M.gguf.zst")]
        {
            let references = References::read(&path(&format!("models/{name}.refs.safetensors.planes.zst")));
            let (ids, want) = (references.ids("ids"), references.floats("logits"));
            let model = hybrid(&format!("models/{file}"), vec![gpu.clone()]);
            let options = SessionOptions { context: 256, ubatch, ..SessionOptions::exact() };
            let got = Session::new(&model, options).unwrap().evaluate(&ids, false).unwrap();
            let off = largest(&got.logits, &want);
            assert!(off <= 2e-3, "{what}, {name}: {off}");
            // A decode step takes other kernels than a prompt.
            let mut session = session(&model);
            session.prefill(&ids[..30]).unwrap();
            let off = largest(session.decode(ids[30]).unwrap(), &want[30 * 512..31 * 512]);
            assert!(off <= 2e-3, "{what}, {name}, decoding: {off}");
        }
    }
}

fn bounded(what: &str, bounds: Bounds) {
    agrees(what, 512, |options| options.bounds = bounds);
}

#[test]
fn large_tensors_are_cut_into_windows() {
    // The embeddings and the larger matrices of the small models do not fit.
    let bounds = Bounds { binding: 128 << 10, ..Bounds::default() };
    // Activations must fit a binding whole, so few tokens at once.
    agrees("windows", 32, |options| options.bounds = bounds);
}

#[test]
fn eight_storage_buffers_suffice() {
    bounded("eight buffers", Bounds { buffers: 8, ..Bounds::default() });
}

#[test]
fn subgroups_and_halves_are_not_needed() {
    bounded("plain", Bounds { subgroups: false, half: false, matrices: false, ..Bounds::default() });
}

#[test]
fn small_workgroups_suffice() {
    bounded("256 invocations", Bounds { invocations: 256, ..Bounds::default() });
}

#[test]
fn unchecked_shaders_compute_the_same() {
    agrees("unchecked", 512, |options| options.checked = false);
}
