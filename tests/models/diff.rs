//! Two ways of running a model beside each other: where they part, and who is to blame.

use crate::models;
use std::sync::Arc;
use weft::diff::{DiffOptions, Side, diff};
use weft::gguf::Gguf;
use weft::session::{Session, SessionOptions};
use weft::synth::{SynthSpec, write_to};
use weft::{Error, Model};
use weft_core::backend::Backend;
use weft_core::contract::{Constant, Constants};
use weft_core::driver::Options;
use weft_core::graph::Graph;
use weft_core::plan::Dispatch;
use weft_core::replay::{self, Difference, Loading};
use weft_tests::devices;
use weft_tests::faulty::Faulty;
use weft_tests::fixtures::path;

/// The CPU with its own kernels.
fn plain() -> Arc<dyn Backend> {
    devices::cpu(&weft_cpu::Options::default())
}

const IDS: [u32; 9] = [5, 17, 200, 3, 3, 90, 41, 7, 60];

/// A model of 24 layers with random weights.
fn tall() -> Arc<Model> {
    let mut spec = SynthSpec::named("qwen35", "tiny", "Q8_0").unwrap();
    spec.shape.layers = 24;
    let bytes = write_to("tall", Vec::new(), &spec, &mut |_| ()).unwrap();
    Model::new(Gguf::from_bytes("tall", bytes).unwrap(), vec![plain()]).unwrap()
}

fn side(model: &Arc<Model>, backend: Arc<dyn Backend>) -> Side {
    let options = SessionOptions { ubatch: 16, context: 64, ..SessionOptions::exact() };
    Side { model: model.on(vec![backend]), options }
}

/// Whether a port of a dispatch lies in the storage of this name.
fn reads(graph: &Graph, dispatch: &Dispatch, storage: &str) -> bool {
    dispatch.bindings.iter().flatten().any(|b| graph.storage(b.tensor.storage).name == storage)
}

/// Flips a bit of a constant of kernels that read a storage.
fn flipping(
    kernel: &'static str,
    storage: &'static str,
    constant: &'static str,
    bit: u32,
) -> Arc<dyn Backend> {
    let alter = move |graph: &Graph, dispatch: &mut Dispatch| {
        if dispatch.kernel == kernel && reads(graph, dispatch, storage) {
            let changed = |constants: Constants, (name, value)| match value {
                Constant::Float(value) if name == constant => {
                    constants.float(name, f32::from_bits(value.to_bits() ^ 1 << bit))
                }
                Constant::Float(value) => constants.float(name, value),
                Constant::Integer(value) => constants.integer(name, value),
            };
            dispatch.constants = dispatch.constants.iter().fold(Constants::new(), changed);
        }
    };
    Faulty::around(plain()).named("flipped").altering(alter).shared()
}

#[test]
fn one_wrong_bit_of_a_fused_kernel_is_found_and_runs_alone() {
    let model = tall();
    let good = side(&model, plain());
    let bad = side(&model, flipping("gdn_layer", "blk.13.ssm_norm.weight", "eps", 26));
    let found =
        diff([&good, &bad], &IDS, &DiffOptions { bound: 0.0, ..DiffOptions::default() }, |_, _| ()).unwrap();
    let first = &found.compared[found.first.expect("a difference")];
    assert_eq!((first.layer, found.beyond), (Some(13), 1), "{}", first.name);
    assert!(first.kernels[1].starts_with("gdn_layer/"), "{}", first.kernels[1]);
    let blame = found.blame.expect("somebody");
    let culprit = blame.culprit.as_ref().expect("a culprit");
    assert_eq!((culprit.side, culprit.fused), (1, true), "{culprit:?}");
    assert!(culprit.kernel.starts_with("gdn_layer/"), "{culprit:?}");

    // The launch by itself, from what was written down, is wrong on that device and nowhere else.
    let graph = Arc::new(Graph::from_json(blame.part.graph.to_json().as_bytes()).unwrap());
    let options = Options { exact: true, ..Options::default() };
    let run = |side: &Side| {
        replay::run(&graph, side.model.backends(), &options, &blame.data, Loading::Imported).unwrap().outputs
    };
    let (right, wrong) = (run(&good), run(&bad));
    for (name, tensor) in &graph.outputs {
        let off = Difference::of(graph.tensor(*tensor).dtype(), &wrong[name], &right[name]);
        assert_eq!(off.is_none(), !name.contains("binary"), "{name}: {off}");
    }
}

#[test]
fn one_wrong_bit_of_a_single_operation_is_named() {
    let model = tall();
    let good = side(&model, plain());
    let bad = side(&model, flipping("flash_attention", "cache.k.15", "scale", 22));
    let found = diff([&good, &bad], &IDS, &DiffOptions::default(), |_, _| ()).unwrap();
    let culprit = found.blame.expect("somebody").culprit.expect("a culprit");
    assert_eq!((culprit.side, culprit.fused), (1, false), "{culprit:?}");
    assert!(culprit.name.contains("blk.15.attention"), "{culprit:?}");
    assert!(culprit.kernel.starts_with("flash_attention/"), "{culprit:?}");
}

#[test]
fn devices_and_plans_agree_in_every_tensor() {
    for name in ["qwen35", "qwen35moe", "qwen4exp"] {
        for model in models(&path(&format!("models/{name}-f32.gguf.planes.zst"))) {
            let mine = Side {
                model: Arc::clone(&model),
                options: SessionOptions { ubatch: 8, ..SessionOptions::exact() },
            };
            let cpu = side(&model, plain());
            let mut single = mine.clone();
            single.options.disabled_rules = vec!["*".to_owned()];
            for other in [&cpu, &single] {
                let options = DiffOptions { steps: 1, bound: 1e-7, ..DiffOptions::default() };
                let found = diff([&mine, other], &IDS[..8], &options, |_, _| ()).unwrap();
                let first = found.first.map(|first| &found.compared[first]);
                assert!(first.is_none(), "{name} on {}: {first:?}", model.backends()[0].name());
                assert!(found.compared.len() > 40, "{name}: {}", found.compared.len());
            }
        }
    }
}

#[test]
fn keeping_values_changes_no_launch() {
    let model = tall();
    let plan = |keep_values| {
        let options = SessionOptions { context: 64, keep_values, ..SessionOptions::exact() };
        Session::new(&model, options).unwrap().plan(9).unwrap()
    };
    let (kept, usual) = (plan(true), plan(false));
    assert_eq!(kept.dispatches.len(), usual.dispatches.len());
    for (kept, usual) in kept.dispatches.iter().zip(&usual.dispatches) {
        assert_eq!((kept.kernel, kept.variant, kept.phase), (usual.kernel, usual.variant, usual.phase));
        assert_eq!((&kept.nodes, &kept.bindings), (&usual.nodes, &usual.bindings));
    }
    assert!(kept.devices[0].arena_bytes > usual.devices[0].arena_bytes);
}

#[test]
fn models_that_compute_something_else_are_refused() {
    let open = |name: &str| models(&path(&format!("models/{name}-f32.gguf.planes.zst"))).remove(0);
    let sides = ["qwen35", "qwen35moe"].map(|name| side(&open(name), plain()));
    let refused = diff([&sides[0], &sides[1]], &IDS, &DiffOptions::default(), |_, _| ());
    assert!(matches!(refused, Err(Error::Unlike { .. })));
}
