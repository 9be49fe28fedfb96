//! Experts that stay on the CPU while all else runs on another device: the same answers, two splits a layer.

use crate::file::File;
use crate::{bound, largest};
use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft::models::{Batch, ExpertsOn, Rows};
use weft::session::{DraftBy, Session, SessionOptions, Speculation};
use weft_core::backend::Backend;
use weft_core::driver::{Offered, Options};
use weft_core::graph::{DType, Owner};
use weft_core::plan::{self, Plan};
use weft_tests::faulty::Faulty;
use weft_tests::fixtures::path;
use weft_tests::refs::References;
use weft_tests::{devices, hip};

/// Layers of the small mixture, and its draft block.
const LAYERS: usize = 4;

/// The CPU under another name, so that it is a device beside itself.
fn other() -> Arc<dyn Backend> {
    Faulty::around(devices::cpu(&Default::default())).named("other").shared()
}

fn opened(first: Arc<dyn Backend>, experts_on: ExpertsOn) -> Arc<Model> {
    let gguf = Gguf::from_bytes("qwen35moe", File::read("qwen35moe").written()).unwrap();
    let model = Model::new(gguf, vec![first, devices::cpu(&Default::default())]).unwrap();
    model.with_experts_on(experts_on)
}

/// What the small model gives for some ids: those of a prompt, those of a token after it, and those of its draft block.
fn answers(model: &Arc<Model>, ids: &[u32]) -> [Vec<f32>; 3] {
    let speculation = Some(Speculation { by: DraftBy::Mtp, most: 2, least_probability: 0.0 });
    let options = SessionOptions { context: 256, ..SessionOptions::exact() };
    let mut session = Session::new(model, options.clone()).unwrap();
    let (last, prompt) = ids.split_last().unwrap();
    let rows = session.evaluate(prompt, false).unwrap().logits;
    let step = session.decode(*last).unwrap().to_vec();
    let mut drafting = Session::new(model, SessionOptions { speculation, ..options }).unwrap();
    [rows, step, drafting.evaluate_drafts(ids).unwrap()]
}

fn planned(model: &Model, tokens: u64) -> Plan {
    let rows = if tokens == 1 { Rows::All } else { Rows::Some(1) };
    let batch = Batch { tokens, rows, ..Batch::token(64, DType::F16.into()) };
    let (graph, placement) = model.placed_graph(&batch).unwrap();
    let offered: Vec<_> =
        model.backends().iter().map(|b| Offered { name: b.name(), offers: b.offers() }).collect();
    plan::build(Arc::new(graph), &offered, &Options { placement, ..Options::default() }).unwrap()
}

#[test]
fn answers_are_those_of_one_device() {
    let references = References::read(&path("models/qwen35moe.refs.safetensors.planes.zst"));
    let ids = &references.ids("ids")[..24];
    let mut firsts: Vec<Arc<dyn Backend>> =
        devices::quick().into_iter().filter(|device| device.name() != "cpu").collect();
    firsts.extend(hip::stand_ins().iter().map(|device| Arc::clone(device) as Arc<dyn Backend>));
    for first in std::iter::once(other()).chain(firsts) {
        let name = first.name().to_owned();
        let plain = opened(Arc::clone(&first), ExpertsOn::Gpu);
        let want = answers(&plain, ids);
        for experts_on in [ExpertsOn::Cpu, ExpertsOn::CpuFirst(2)] {
            let model = opened(Arc::clone(&first), experts_on);
            model.load(&mut |_, _| ()).unwrap();
            // Rules that take experts with what stands around them are not used: sums come in another order.
            for (got, want) in answers(&model, ids).iter().zip(&want) {
                let off = largest(got, want);
                eprintln!("{name} with experts on {experts_on}: {off:e}");
                assert!(off <= bound(&plain), "{name} with experts on {experts_on}: {off}");
            }
        }
    }
}

#[test]
fn each_layer_on_the_cpu_adds_two_splits() {
    for (experts_on, layers) in [
        (ExpertsOn::Gpu, 0..0),
        (ExpertsOn::Cpu, 0..LAYERS),
        (ExpertsOn::CpuFirst(3), 0..3),
        (ExpertsOn::CpuFirst(0), 0..0),
        (ExpertsOn::GpuFirst(3), 3..LAYERS),
        (ExpertsOn::GpuFirst(9), 0..0),
    ] {
        let model = opened(other(), experts_on);
        for tokens in [1, 7] {
            let plan = planned(&model, tokens);
            let what = format!("experts on {experts_on}, {tokens} tokens");
            assert_eq!(plan.census().splits, 1 + 2 * layers.len(), "{what}");
            // The matrices of these layers' experts, and no other weights, lie on the CPU.
            for (index, storage) in plan.graph.storages.iter().enumerate() {
                if storage.owner == Owner::Weight {
                    let layer = storage.name.split('.').nth(1).and_then(|layer| layer.parse().ok());
                    let there = storage.name.contains("_exps") && layer.is_some_and(|l| layers.contains(&l));
                    let places = [0, 1].map(|device: usize| plan.devices[device].places[index].is_some());
                    assert_eq!(places, [!there, there], "{what}: {}", storage.name);
                }
            }
        }
    }
}

#[test]
fn a_cpu_that_is_not_there_is_an_error() {
    let gguf = Gguf::from_bytes("qwen35moe", File::read("qwen35moe").written()).unwrap();
    let model = Model::new(gguf, vec![other()]).unwrap().with_experts_on(ExpertsOn::Cpu);
    let error =
        Session::new(&model, SessionOptions::exact()).and_then(|mut s| s.decode(1).map(<[f32]>::to_vec));
    assert!(matches!(error, Err(weft::Error::Option { name: "experts-on", .. })), "{error:?}");
}

#[test]
fn places_are_written_as_they_are_read() {
    for experts_on in [ExpertsOn::Gpu, ExpertsOn::GpuFirst(3), ExpertsOn::Cpu, ExpertsOn::CpuFirst(12)] {
        assert_eq!(experts_on.to_string().parse(), Ok(experts_on));
    }
    for wrong in ["", "host", "cpu:", "cpu:-1", "gpu:x", "cpu:1:2"] {
        assert!(wrong.parse::<ExpertsOn>().is_err(), "{wrong}");
    }
}
