//! Mixtures of experts: files of other forms give what the small model gives, and files that contradict themselves are
//! refused.

use crate::file::{BATCH, File, refused};
use crate::{bound, exact, largest};
use std::sync::Arc;
use weft::Model;
use weft::gguf::{Gguf, Value};
use weft::models::{Description, ModelError};
use weft_tests::devices;
use weft_tests::fixtures::path;
use weft_tests::refs::References;

/// Layers of the small model, and the sizes of its delta nets: key heads, value heads of each, width.
const LAYERS: usize = 4;
const HEADS: (usize, usize, usize) = (2, 3, 32);

impl File {
    /// Its logits are those of the small model.
    fn agrees(&self, what: &str) {
        let references = References::read(&path("models/qwen35moe.refs.safetensors.planes.zst"));
        let ids = &references.ids("ids")[..40];
        let want = references.floats("logits");
        for backend in devices::quick() {
            let gguf = Gguf::from_bytes(what, self.written()).unwrap();
            let model: Arc<Model> = Model::new(gguf, vec![backend]).unwrap();
            let got = exact(&model, 64).evaluate(ids, false).unwrap().logits;
            let off = largest(&got, &want[..got.len()]);
            assert!(off <= bound(&model), "{what} on {}: {off}", model.backends()[0].name());
        }
    }
}

/// Rows of `bytes` in another order, `size` bytes each.
fn rows(bytes: &[u8], size: usize, order: impl IntoIterator<Item = usize>) -> Vec<u8> {
    order.into_iter().flat_map(|row| bytes[row * size..(row + 1) * size].to_vec()).collect()
}

/// Gate and up projections of experts in one tensor, gates first.
fn joined_experts(mut file: File) -> File {
    for layer in 0..LAYERS {
        let name = |part: &str| format!("blk.{layer}.ffn_{part}_exps.weight");
        let (extents, gate) = file.take(&name("gate")).unwrap();
        let (_, up) = file.take(&name("up")).unwrap();
        let size = (extents[0] * extents[1] * 4) as usize;
        let both = gate.chunks(size).zip(up.chunks(size)).flat_map(|(gate, up)| [gate, up].concat());
        file.put(&name("gate_up"), &[extents[0], 2 * extents[1], extents[2]], both.collect());
    }
    file
}

/// The same model as `qwen3next`: value heads by key head, strength and decay in one matrix.
fn grouped(mut file: File) -> File {
    let (keys, each, width) = HEADS;
    // Where a head of the other order lies here.
    let heads: Vec<usize> = (0..keys * each).map(|j| j % each * keys + j / each).collect();
    let values =
        |start: usize| heads.iter().flat_map(move |h| (0..width).map(move |i| start + h * width + i));
    let queries = 2 * keys * width;
    for layer in 0..LAYERS - 1 {
        let name = |part: &str| format!("blk.{layer}.{part}");
        let mut reorder = |part: &str, size: usize, order: Vec<usize>| {
            let (extents, bytes) = file.take(&name(part)).unwrap();
            file.put(&name(part), &extents, rows(&bytes, size, order));
        };
        let channels: Vec<usize> = (0..queries).chain(values(queries)).collect();
        reorder("attn_qkv.weight", 128 * 4, channels.clone());
        reorder("ssm_conv1d.weight", 4 * 4, channels);
        reorder("attn_gate.weight", 128 * 4, values(0).collect());
        reorder("ssm_a", 4, heads.clone());
        reorder("ssm_dt.bias", 4, heads.clone());
        let columns = keys * each * width;
        let all = (0..128).flat_map(|row| values(row * columns)).collect();
        reorder("ssm_out.weight", 4, all);
        let [(_, beta), (_, alpha)] =
            ["ssm_beta.weight", "ssm_alpha.weight"].map(|part| file.take(&name(part)).unwrap());
        let group = |k: usize| {
            let own = || heads[k * each..(k + 1) * each].iter().copied();
            [rows(&beta, 128 * 4, own()), rows(&alpha, 128 * 4, own())].concat()
        };
        file.put(&name("ssm_ba.weight"), &[128, 2 * heads.len() as u64], (0..keys).flat_map(group).collect());
    }
    let renamed = |(key, value): (String, Value)| (key.replace("qwen35moe.", "qwen3next."), value);
    file.keys = file.keys.into_iter().map(renamed).collect();
    file.without("qwen3next.rope.dimension_sections").with("general.architecture", "qwen3next")
}

/// That as older files have it: one matrix for the convolved row and the gate, by key head.
fn legacy(mut file: File) -> File {
    let (keys, each, width) = HEADS;
    for layer in 0..LAYERS - 1 {
        let name = |part: &str| format!("blk.{layer}.{part}.weight");
        let (_, row) = file.take(&name("attn_qkv")).unwrap();
        let (_, gate) = file.take(&name("attn_gate")).unwrap();
        let size = width * 128 * 4;
        let group = |k: usize| {
            let own = k * each..(k + 1) * each;
            let [q, k, v] = [k..k + 1, keys + k..keys + k + 1, 2 * keys + own.start..2 * keys + own.end];
            [rows(&row, size, q), rows(&row, size, k), rows(&row, size, v), rows(&gate, size, own)].concat()
        };
        let heads = keys * (2 + 2 * each);
        file.put(&name("ssm_in"), &[128, (heads * width) as u64], (0..keys).flat_map(group).collect());
    }
    file
}

#[test]
fn other_forms_of_a_file_are_the_same_model() {
    let file = File::read("qwen35moe");
    joined_experts(file.clone()).agrees("experts' gate and up projections in one tensor");
    let grouped = grouped(file);
    grouped.agrees("qwen3next");
    legacy(grouped).agrees("qwen3next in its older form");
}

#[test]
fn sizes_that_contradict_each_other_are_refused() {
    let file = File::read("qwen35moe");
    let (count, used) = ("qwen35moe.expert_count", "qwen35moe.expert_used_count");
    let (inner, shared) =
        ("qwen35moe.expert_feed_forward_length", "qwen35moe.expert_shared_feed_forward_length");
    for (key, value) in [(used, 0), (used, 9), (used, 100_000), (inner, 0), (inner, u32::MAX), (shared, 0)] {
        let error = refused(&file.clone().with(key, value));
        assert!(matches!(error, ModelError::Unfit { .. }), "{key} {value}: {error}");
    }
    for (key, value) in [(count, 7), (inner, 63), (shared, 65)] {
        let error = refused(&file.clone().with(key, value));
        assert!(matches!(error, ModelError::Shape { .. }), "{key} {value}: {error}");
    }
    for key in [count, used, shared] {
        assert!(matches!(refused(&file.clone().without(key)), ModelError::Gguf(_)), "{key}");
    }
    let none = refused(&file.clone().with(count, 0u32));
    assert!(matches!(none, ModelError::Gguf(_) | ModelError::Unfit { .. }), "{none}");
    let error = refused(&file.clone().with("qwen35moe.expert_weights_scale", f32::NAN));
    assert!(matches!(error, ModelError::Unfit { .. }), "{error}");
    let mut lacking = file;
    lacking.take("blk.2.ffn_down_exps.weight");
    assert!(matches!(refused(&lacking), ModelError::Gguf(_)));
}

#[test]
fn a_factor_on_weights_and_a_width_by_layer_are_read() {
    let file = File::read("qwen35moe");
    let scaled = file.clone().with("qwen35moe.expert_weights_scale", 1.0f32);
    scaled
        .with("qwen35moe.expert_feed_forward_length", &[64u32, 64, 64, 64, 64][..])
        .agrees("a width by layer");
    let gguf = Gguf::from_bytes("changed", file.with("qwen35moe.expert_weights_scale", 2.0f32).written());
    let model = Description::new(Arc::new(gguf.unwrap())).unwrap();
    let graph = model.graph(&BATCH).unwrap();
    let scales = graph.nodes.iter().filter(|n| matches!(n.op, weft_core::graph::Op::Scale { .. })).count();
    assert_eq!(scales, LAYERS);
}
