//! Repacked weights and the file's own blocks give the same answers.

use crate::{gpus, ids, largest, model, session};

#[test]
fn repacking_changes_no_answer() {
    let ids = ids();
    for (packed, raw) in gpus(|_| {}).into_iter().zip(gpus(|options| options.repack = false)) {
        let (packed, raw) = (model(vec![packed]), model(vec![raw]));
        let (a, b) =
            (session(&packed).evaluate(&ids, false).unwrap(), session(&raw).evaluate(&ids, false).unwrap());
        let off = largest(&a.logits, &b.logits);
        assert!(off <= 2e-4, "{off}");
    }
}
