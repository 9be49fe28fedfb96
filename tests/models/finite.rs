//! Looking for values that are not finite: the first one is named, and nothing else changes.

use crate::file::File;
use std::sync::Arc;
use weft::gguf::Gguf;
use weft::session::{Session, SessionOptions};
use weft::{Error, Model};
use weft_core::run::RunError;
use weft_tests::devices;

const IDS: [u32; 12] = [5, 17, 200, 3, 3, 90, 41, 7, 60, 2, 11, 250];

fn gguf(file: &File) -> Gguf {
    Gguf::from_bytes("changed", file.written()).unwrap()
}

fn models(file: &File) -> impl Iterator<Item = Arc<Model>> + '_ {
    devices::quick().into_iter().map(|backend| Model::new(gguf(file), vec![backend]).unwrap())
}

fn session(model: &Arc<Model>, exact: bool, check_finite: u64) -> Session {
    let base = if exact { SessionOptions::exact() } else { SessionOptions::default() };
    Session::new(model, SessionOptions { ubatch: 8, context: 64, check_finite, ..base }).unwrap()
}

/// A fixture with one number of a matrix gone.
fn poisoned(name: &str, tensor: &str, at: usize) -> File {
    let mut file = File::read(name);
    let (extents, mut data) = file.take(tensor).unwrap();
    data[4 * at..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    file.put(tensor, &extents, data);
    file
}

#[test]
fn checks_change_neither_plans_nor_results() {
    for name in ["qwen35", "qwen35moe", "qwen4exp"] {
        let file = File::read(name);
        for (model, exact) in models(&file).flat_map(|model| [(Arc::clone(&model), true), (model, false)]) {
            let run = |check_finite| {
                let mut session = session(&model, exact, check_finite);
                let all = session.evaluate(&IDS, false).unwrap().logits;
                let last = session.decode(9).unwrap().to_vec();
                (all, last, session.plan(1).unwrap().hash)
            };
            let (with, without) = (run(1), run(0));
            let bits = |logits: &[f32]| logits.iter().map(|logit| logit.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&with.0), bits(&without.0), "{name} on {}", crate::of(&model));
            assert_eq!(bits(&with.1), bits(&without.1), "{name} on {}", crate::of(&model));
            assert_eq!(with.2, without.2);
        }
    }
}

#[test]
fn the_first_bad_node_is_named() {
    // Of a matrix, of a norm inside a fused kernel, and of a row of the embedding that only one token reads.
    let cases = [
        ("qwen35", "blk.2.ffn_down.weight", 5, 2),
        ("qwen35", "blk.1.ssm_norm.weight", 3, 1),
        ("qwen35moe", "blk.3.attn_k.weight", 40, 3),
    ];
    for (name, tensor, at, layer) in cases {
        let file = poisoned(name, tensor, at);
        for model in models(&file) {
            let refused = session(&model, true, 1).prefill(&IDS).unwrap_err();
            let Error::Run(RunError::NotFinite { node, kernel, at }) = &refused else {
                panic!("{tensor} on {}: {refused}", crate::of(&model))
            };
            // What reads the number is in the layer: nothing before it and nothing behind it is blamed.
            let plan = session(&model, true, 0).plan(8).unwrap();
            let dispatch = &plan.dispatches[at.dispatch];
            let mut read =
                dispatch.bindings.iter().flatten().map(|b| &plan.graph.storage(b.tensor.storage).name);
            let own = dispatch
                .bindings
                .iter()
                .flatten()
                .any(|b| plan.graph.storage(b.tensor.storage).name == tensor);
            assert!(own, "{tensor} on {}: {node} by {kernel} reads {:?}", crate::of(&model), read.next());
            assert!(refused.to_string().contains("not finite"), "{refused}, layer {layer}");
        }
    }
}

#[test]
fn looks_as_often_as_asked() {
    let file = poisoned("qwen35", "blk.2.ffn_down.weight", 5);
    let model = models(&file).next().unwrap();
    let mut session = session(&model, true, 10);
    // The first ubatch crosses 0; tokens 8 and 9 do not reach 10.
    assert!(matches!(session.prefill(&IDS[..8]), Err(Error::Run(RunError::NotFinite { .. }))));
    let sane = Model::new(gguf(&File::read("qwen35")), model.backends().to_vec()).unwrap();
    let mut steps = self::session(&sane, true, 10);
    steps.prefill(&IDS).unwrap();
    assert_eq!(steps.tokens().len(), IDS.len());
}
