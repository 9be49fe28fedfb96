//! Mixtures of experts stay on the GPU, in few launches.

use crate::{hybrid, session};
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::driver::Options;
use weft_core::plan::Census;
use weft_tests::devices;
use weft_tests::fixtures::path;
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::plan_for;
use weft_tests::refs::References;

/// A plan of a mixture's true size.
fn census(arch: &str, size: &str, tokens: u64, gpu: Arc<dyn Backend>) -> Census {
    let graph = graph(&described(arch, size), &ubatch(tokens));
    plan_for(&graph, &[gpu], &Options::default()).unwrap().census()
}

#[test]
fn mixtures_of_true_size_are_planned_whole_on_the_gpu() {
    for gpu in devices::all_gpus() {
        for (arch, size) in [("qwen35moe", "35b-a3b"), ("qwen3next", "80b-a3b"), ("qwen3moe", "30b-a3b")] {
            for tokens in [1, 8, 64, 512] {
                let census = census(arch, size, tokens, gpu.clone());
                let what = format!("{arch} {size}, {tokens} tokens on {}", gpu.name());
                assert_eq!((census.off_device, census.splits), (0, 1), "{what}");
                assert!(census.rules["router"] >= 40, "{what}: {:?}", census.rules);
                println!("{what}: {} dispatches", census.dispatches);
            }
        }
    }
}

#[test]
fn a_small_mixture_runs_in_as_many_launches_as_planned() {
    let ids = References::read(&path("models/qwen35moe.refs.safetensors.planes.zst")).ids("ids");
    for gpu in devices::all_gpus() {
        let model = hybrid("models/qwen35moe-f32.gguf.planes.zst", vec![gpu.clone()]);
        let mut session = session(&model);
        session.prefill(&ids[..20]).unwrap();
        session.decode(ids[20]).unwrap();
        let before = gpu.counters();
        session.decode(ids[21]).unwrap();
        let after = gpu.counters();
        let plan = session.plan(1).unwrap();
        let census = plan.census();
        assert_eq!((census.off_device, census.splits, census.revoked), (0, 1, 0), "{}", gpu.name());
        let layers = 4;
        for rule in ["router", "expert_sum_shared_norm", "mul_mat_id_swiglu"] {
            assert_eq!(census.rules[rule], layers, "{rule} on {}", gpu.name());
        }
        let launches = after.launches - before.launches;
        println!("{}: {} dispatches, {launches} launches", gpu.name(), census.dispatches);
    }
}
