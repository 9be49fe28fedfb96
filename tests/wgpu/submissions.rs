//! Submissions: each owns its inputs, and decoding makes nothing anew.

use crate::{gpus, ids, model, session};
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_tests::{devices, submissions};

#[test]
fn inputs_belong_to_one_submission() {
    for gpu in devices::all_gpus() {
        submissions::own_their_inputs(&**gpu);
    }
}

#[test]
fn a_decoded_token_is_one_submission_and_no_new_memory() {
    let ids = ids();
    // Devices of this test's own: others run at the same time.
    for gpu in gpus(|_| {}) {
        let model = model(vec![Arc::clone(&gpu) as Arc<dyn Backend>]);
        let mut session = session(&model);
        session.prefill(&ids[..20]).unwrap();
        session.decode(ids[20]).unwrap();
        let before = gpu.counters();
        for id in &ids[21..31] {
            session.decode(*id).unwrap();
        }
        let after = gpu.counters();
        assert_eq!(after.submits - before.submits, 10, "{}", gpu.name());
        assert_eq!(after.buffers, before.buffers, "{}", gpu.name());
        let plan = session.plan(1).unwrap();
        assert!(plan.dispatches.len() as u64 <= (after.launches - before.launches) / 10);
        let census = plan.census();
        assert_eq!((census.off_device, census.splits), (0, 1), "{}", gpu.name());
    }
}
