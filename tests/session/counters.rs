//! What runs did is counted from their plans, whether anybody listens or not.

use crate::{ids, small};
use std::io;
use std::sync::Arc;
use weft::session::{Counters, Session, SessionOptions};
use weft_core::backend::Backend;
use weft_core::plan::Tally;
use weft_tests::devices;
use weft_tests::faulty::Faulty;

/// A prompt in two ubatches and three steps: counts, and what they must be by the plans.
fn counted(backends: Arc<dyn Backend>) -> (Counters, Tally) {
    let options = SessionOptions { context: 64, ubatch: 8, ..SessionOptions::default() };
    let mut session = Session::new(&small(backends), options).unwrap();
    session.prefill(&ids(16)).unwrap();
    for id in ids(3) {
        session.decode(id).unwrap();
    }
    let counters = *session.counters();
    let mut wanted = Tally::default();
    // Of the first ubatch no logits are asked for: its plan is found in what was counted less the others.
    let (last, step) = (session.plan(8).unwrap().tally(), session.plan(1).unwrap().tally());
    [last, step, step, step].iter().for_each(|tally| wanted.add(tally));
    session.reset_timings();
    assert_eq!(*session.counters(), Counters::default());
    (counters, wanted)
}

#[test]
fn counts_are_those_of_the_plans_and_do_not_depend_on_listeners() {
    let device = devices::cpu(&weft_cpu::Options::default());
    let (quiet, wanted) = counted(Arc::clone(&device));
    assert_eq!((quiet.runs, quiet.tokens), (5, 19));
    assert!(quiet.all.claims > wanted.claims && quiet.all.dispatches > wanted.dispatches);
    assert_eq!((quiet.all.splits, quiet.all.revocations, quiet.all.copies), (5, 0, 0));
    assert!(quiet.per_token(quiet.all.dispatches) > 1.0 && quiet.per_run(quiet.all.splits) == 1.0);
    let listener =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(io::sink).finish();
    let (heard, _) = tracing::subscriber::with_default(listener, || counted(device));
    assert_eq!(quiet, heard);
}

#[test]
fn a_lost_fusion_shows_in_the_counts() {
    let cpu = || devices::cpu(&weft_cpu::Options::default());
    let (whole, _) = counted(cpu());
    assert_eq!(whole.all.fallbacks, 0);
    let failing = |kernel: &'static str| {
        let device = Faulty::around(cpu()).failing(move |dispatch| {
            (dispatch.kernel == kernel && dispatch.variant != "reference").then(|| "broken here".to_owned())
        });
        counted(device.shared()).0.all
    };
    // The layer's kernel falls back to its reference, and each run counts each of its revocations.
    let layer = failing("gdn_layer");
    assert!(layer.fallbacks > 0 && layer.revocations > 0, "{layer:?}");
    assert_eq!(layer.dispatches, whole.all.dispatches);
    // Without the kernel fewer claims remain, of more launches: the parts take over, and nothing else falls back.
    let gone = Faulty::around(cpu()).without(|offer| offer.contract.kernel == "gdn_layer").shared();
    let (gone, _) = counted(gone);
    assert!(gone.all.dispatches > whole.all.dispatches && gone.all.fallbacks == 0, "{gone:?}");
}
