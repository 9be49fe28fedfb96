//! Failures are typed errors of one request; the process lives, and a new device goes on.

use crate::{gpus, ids, model, session};
use std::sync::Arc;
use weft::Error;
use weft_core::backend::{Backend, DeviceError};
use weft_core::plan::Dispatch;
use weft_tests::devices;
use weft_tests::faulty::Faulty;

fn decode(model: &Arc<weft::Model>, ids: &[u32]) -> Vec<f32> {
    let mut session = session(model);
    session.prefill(&ids[..20]).unwrap();
    ids[20..24].iter().flat_map(|id| session.decode(*id).unwrap().to_vec()).collect()
}

#[test]
fn a_device_lost_while_decoding_is_an_error_and_another_goes_on() {
    let ids = ids();
    for (lost, again) in gpus(|_| {}).into_iter().zip(gpus(|_| {})) {
        let first = model(vec![lost.clone()]);
        let mut session = session(&first);
        session.prefill(&ids[..20]).unwrap();
        session.decode(ids[20]).unwrap();
        lost.lose();
        let error = session.decode(ids[21]).unwrap_err();
        assert!(matches!(&error, Error::Run(run) if run.to_string().contains("lost")), "{error}");
        // The session is not usable any more, and says so again instead of answering wrongly.
        assert!(session.decode(ids[22]).is_err());
        assert!(lost.allocate("more", 1 << 10).is_err());
        let want = decode(&model(vec![devices::reference()]), &ids);
        let got = decode(&model(vec![again]), &ids);
        assert!(crate::largest(&got, &want) <= 2e-3);
    }
}

#[test]
fn a_tensor_beyond_memory_is_refused_where_it_is_asked_for() {
    for gpu in devices::all_gpus() {
        match gpu.allocate("a huge cache", 1 << 50) {
            Err(DeviceError::OutOfMemory { what, asked, .. }) => {
                assert_eq!((what.as_str(), asked), ("a huge cache", 1 << 50));
            }
            other => panic!("{other:?}"),
        }
        gpu.allocate("a small one", 1 << 10).unwrap();
    }
}

#[test]
fn a_kernel_that_cannot_be_built_gives_its_nodes_back() {
    let ids = ids();
    let want = decode(&model(vec![devices::reference()]), &ids);
    for gpu in devices::all_gpus() {
        for kernel in ["gdn_layer", "add_rms_norm", "norm_rope"] {
            let fails =
                move |dispatch: &Dispatch| (dispatch.kernel == kernel).then(|| "no pipeline".to_owned());
            let faulty = Faulty::around(Arc::clone(gpu) as Arc<dyn Backend>).failing(fails).shared();
            let model = model(vec![faulty]);
            let got = decode(&model, &ids);
            assert!(crate::largest(&got, &want) <= 2e-3, "{kernel}");
            let plan = session(&model).plan(1).unwrap();
            assert!(plan.dispatches.iter().all(|dispatch| dispatch.kernel != kernel));
            assert!(!plan.revoked.is_empty());
        }
    }
}
