//! Failures are typed errors of one request; the process lives, and a new device goes on.

use crate::{all, ids, model, opened, session};
use std::sync::Arc;
use weft::Error;
use weft_core::backend::{Backend, DeviceError};
use weft_core::plan::Dispatch;
use weft_tests::devices;
use weft_tests::faulty::Faulty;

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

/// Kernels that cover several nodes; each can be taken away.
const FUSED: &[&str] = &[
    "gdn_layer",
    "gdn_core",
    "gated_norm",
    "gated_attention",
    "norm_rope_rows",
    "norm_rope",
    "add_rms_norm",
    "mul_mat_swiglu",
    "mul_mats",
    "swiglu",
];

#[test]
fn without_a_fused_kernel_the_answer_is_the_same() {
    let ids = ids();
    let want = decode(&model(vec![devices::reference()]), &ids);
    for gpu in all() {
        for kernel in FUSED {
            let fails = move |dispatch: &Dispatch| (dispatch.kernel == *kernel).then(|| "no code".to_owned());
            let faulty = Faulty::around(Arc::clone(&gpu) as Arc<dyn Backend>).failing(fails).shared();
            let model = model(vec![faulty]);
            let got = decode(&model, &ids);
            assert!(crate::largest(&got, &want) <= 2e-3, "{} {kernel}", gpu.name());
            let plan = session(&model).plan(1).unwrap();
            assert!(plan.dispatches.iter().all(|dispatch| dispatch.kernel != *kernel));
        }
    }
}
