//! Failures are typed errors of one request; the process lives, and a new device goes on.

use crate::{all, from_file, ids, model, opened, session};
use std::collections::BTreeSet;
use std::sync::Arc;
use weft::Error;
use weft_core::backend::{Backend, DeviceError};
use weft_core::plan::{Dispatch, Plan};
use weft_core::rules::FUSED;
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::fixtures::path;
use weft_tests::refs::References;

/// Logits of two tokens after a prompt.
fn decode(model: &Arc<weft::Model>, ids: &[u32]) -> Vec<f32> {
    let mut session = session(model);
    session.prefill(&ids[..5]).unwrap();
    ids[5..7].iter().flat_map(|id| session.decode(*id).unwrap().to_vec()).collect()
}

#[test]
fn a_device_lost_while_decoding_is_an_error_and_another_goes_on() {
    let ids = ids();
    let want = decode(&model(vec![devices::reference()]), &ids);
    for (lost, again) in opened(|_| {}).into_iter().zip(opened(|_| {})) {
        let first = model(vec![lost.clone()]);
        let mut session = session(&first);
        session.prefill(&ids[..5]).unwrap();
        session.decode(ids[5]).unwrap();
        lost.lose();
        let error = session.decode(ids[6]).unwrap_err();
        assert!(matches!(&error, Error::Run(run) if run.to_string().contains("lost")), "{error}");
        // The session is not usable any more, and says so again instead of answering wrongly.
        assert!(session.decode(ids[7]).is_err());
        assert!(lost.allocate("more", 1 << 10).is_err());
        let got = decode(&model(vec![again]), &ids);
        assert!(crate::largest(&got, &want) <= 2e-3);
    }
}

#[test]
fn a_tensor_beyond_memory_is_refused_where_it_is_asked_for() {
    for gpu in all() {
        match gpu.allocate("a huge cache", 1 << 50) {
            Err(DeviceError::OutOfMemory { what, asked, .. }) => {
                assert_eq!((what.as_str(), asked), ("a huge cache", 1 << 50));
            }
            other => panic!("{other:?}"),
        }
        gpu.allocate("a small one", 1 << 10).unwrap();
    }
}

/// Small models that have every layer there is, and ids for each.
const MODELS: [(&str, &str); 3] = [
    ("qwen35k-Q4_K_M.gguf.zst", "qwen35k-Q4_K_M"),
    ("qwen35moe-f32.gguf.planes.zst", "qwen35moe"),
    ("qwen4exp-f32.gguf.planes.zst", "qwen4exp"),
];

/// The plan of a decode step.
fn step(model: &Arc<weft::Model>) -> Arc<Plan> {
    session(model).plan(1).unwrap()
}

/// The kernels of a plan.
fn kernels(plan: &Plan) -> BTreeSet<&'static str> {
    plan.dispatches.iter().map(|dispatch| dispatch.kernel).collect()
}

/// Kernels that rules propose. One that is also an operation's own has nothing to take its place.
#[test]
fn without_a_fused_kernel_the_answer_is_the_same() {
    for gpu in all() {
        let mut left: BTreeSet<&str> = FUSED.iter().map(|rule| rule.kernel).collect();
        for (file, references) in MODELS {
            let file = path(&format!("models/{file}"));
            let ids = References::read(&path(&format!("models/{references}.refs.safetensors.planes.zst")))
                .ids("ids");
            let plan = step(&from_file(&file, vec![gpu.clone()]));
            plan.graph.nodes.iter().for_each(|node| {
                left.remove(node.op.kind().signature().stem);
            });
            let here = kernels(&plan);
            let taken: Vec<&str> = left.iter().copied().filter(|kernel| here.contains(kernel)).collect();
            left.retain(|kernel| !here.contains(kernel));
            if taken.is_empty() {
                continue;
            }
            let want = decode(&from_file(&file, vec![devices::reference()]), &ids);
            for kernel in taken {
                let fails =
                    move |dispatch: &Dispatch| (dispatch.kernel == kernel).then(|| "no code".to_owned());
                let faulty = Faulty::around(Arc::clone(&gpu) as Arc<dyn Backend>).failing(fails).shared();
                let model = from_file(&file, vec![faulty]);
                let got = decode(&model, &ids);
                assert!(crate::largest(&got, &want) <= 2e-3, "{} {kernel}", gpu.name());
                assert!(!kernels(&step(&model)).contains(kernel), "{} {kernel}", gpu.name());
            }
        }
        // A larger kernel is there for what these do in weft's own models.
        assert_eq!(left.into_iter().collect::<Vec<_>>(), ["gated_norm", "gdn_core", "mix_streams"]);
    }
}
