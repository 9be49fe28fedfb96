//! Submissions: each owns its inputs, which the host leaves alone until they are copied.
//! Repacked weights and the file's own blocks give the same answers.

use crate::{all, alone, ids, largest, model, opened, session};
use std::sync::Arc;
use weft::session::{Session, SessionOptions};
use weft_core::backend::Backend;
use weft_tests::{hip, submissions};

#[test]
fn inputs_belong_to_one_submission() {
    for gpu in all() {
        submissions::own_their_inputs(&*gpu);
    }
}

#[test]
fn no_host_write_races_a_copy_that_runs_late() {
    let late = [("HIP_STAND_IN_LAZY", "1"), ("WEFT_EMULATOR_DEFER", "1")];
    if !alone("submissions::no_host_write_races_a_copy_that_runs_late", &late) {
        return;
    }
    let ids = ids();
    for gpu in hip::stand_ins().iter().cloned().chain(hip::open(hip::all_options(|o| o.graphs = true))) {
        submissions::own_their_inputs(&*gpu);
        let model = model(vec![Arc::clone(&gpu) as Arc<dyn Backend>]);
        let mut session = session(&model);
        session.prefill(&ids[..5]).unwrap();
        ids[5..10].iter().for_each(|id| assert!(session.decode(*id).is_ok()));
        let counters = gpu.counters();
        assert!(counters.launches > 0);
        assert_eq!(counters.races, 0, "{}", gpu.name());
    }
}

#[test]
fn no_node_of_a_model_leaves_the_device() {
    for gpu in all() {
        let plan = session(&model(vec![Arc::clone(&gpu) as Arc<dyn Backend>])).plan(1).unwrap();
        let census = plan.census();
        assert_eq!((census.off_device, census.splits), (0, 1), "{}", gpu.name());
    }
}

#[test]
fn repacking_changes_no_answer() {
    let ids = ids();
    for (packed, raw) in opened(|_| {}).into_iter().zip(opened(|options| options.repack = false)) {
        let (packed, raw) = (model(vec![packed]), model(vec![raw]));
        let logits = |model| session(model).evaluate(&ids[..12], false).unwrap().logits;
        let off = largest(&logits(&packed), &logits(&raw));
        assert!(off <= 2e-4, "{off}");
    }
}

/// Options of tests fill memory with NaN, which keeps it: without, a program has to.
#[test]
fn memory_that_is_not_filled_lives_as_long_as_its_program() {
    let ids = ids();
    for (filled, bare) in opened(|_| {}).into_iter().zip(opened(|options| options.poison = false)) {
        let (filled, bare) = (model(vec![filled]), model(vec![bare]));
        let logits = |model| {
            let options = SessionOptions { context: 64, ..SessionOptions::default() };
            let mut session = Session::new(model, options).unwrap();
            session.prefill(&ids[..9]).unwrap();
            session.decode(ids[9]).unwrap().to_vec()
        };
        assert_eq!(logits(&filled), logits(&bare));
    }
}
