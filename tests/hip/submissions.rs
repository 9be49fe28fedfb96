//! Submissions: each owns its inputs. Repacked weights and the file's own blocks give the same answers.

use crate::{all, ids, largest, model, opened, session};
use std::sync::Arc;
use weft::session::{Session, SessionOptions};
use weft_core::backend::Backend;
use weft_tests::submissions;

#[test]
fn inputs_belong_to_one_submission() {
    for gpu in all() {
        submissions::own_their_inputs(&*gpu);
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

#[test]
fn scratch_memory_stays_when_nothing_is_filled_with_nan() {
    let ids = ids();
    let logits = |gpu| {
        let model = model(vec![gpu]);
        let mut session = Session::new(&model, SessionOptions { context: 64, ..Default::default() }).unwrap();
        session.prefill(&ids[..20]).unwrap();
        session.logits().to_vec()
    };
    // Applications open devices like this; the self-test on opening already needs scratch memory.
    for (plain, filled) in opened(|options| options.poison = false).into_iter().zip(all()) {
        assert_eq!(logits(plain), logits(filled));
    }
}
