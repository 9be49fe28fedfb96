//! The hash of a plan on a GPU: a matter of the graph and of what the device may do, of nothing else.

use crate::{gpus, model};
use std::io;
use std::sync::Arc;
use weft::session::{Session, SessionOptions};
use weft_core::backend::Backend;
use weft_wgpu::{Bounds, Options, Wgpu};

/// Hashes of compiled plans: a step and a prompt, and an exact step.
fn hashes(gpu: Arc<Wgpu>) -> Vec<u64> {
    let model = model(vec![gpu as Arc<dyn Backend>]);
    let of = |options: SessionOptions, tokens: &[u64]| -> Vec<u64> {
        let mut session = Session::new(&model, SessionOptions { context: 256, ..options }).unwrap();
        tokens.iter().map(|tokens| session.plan(*tokens).unwrap().hash).collect()
    };
    [of(SessionOptions::default(), &[1, 40]), of(SessionOptions::exact(), &[1])].concat()
}

/// Hashes on every adapter, opened anew.
fn all(change: impl Fn(&mut Options)) -> Vec<Vec<u64>> {
    gpus(change).into_iter().map(hashes).collect()
}

#[test]
fn a_hash_depends_on_neither_opening_nor_listeners_nor_options() {
    let base = all(|_| {});
    for hashes in &base {
        assert!(hashes[0] != hashes[1], "a step and a prompt are different plans");
    }
    let listener =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(io::sink).finish();
    assert_eq!(tracing::subscriber::with_default(listener, || all(|_| {})), base);
    // How weights lie on the device is the device's own affair: the plan names their types and extents as the file does.
    assert_eq!(all(|options| options.repack = false), base);
    let other = |options: &mut Options| {
        (options.checked, options.poison) = (false, false);
        options.profile = Some(Arc::default());
    };
    assert_eq!(all(other), base);
}

#[test]
fn adapters_that_may_do_the_same_have_the_same_hashes() {
    let least = Bounds {
        binding: 128 << 20,
        buffers: 8,
        invocations: 256,
        subgroups: false,
        half: false,
        matrices: false,
    };
    let named = |adapter: &str| {
        let options = Options { adapter: Some(adapter.to_owned()), bounds: least, ..Options::default() };
        Arc::new(Wgpu::open(&options).unwrap())
    };
    let equal: Vec<Vec<u64>> =
        weft_wgpu::adapters().iter().map(|found| hashes(named(&found.index.to_string()))).collect();
    assert!(equal.windows(2).all(|pair| pair[0] == pair[1]), "{equal:?}");
}
