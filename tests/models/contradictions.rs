//! Files that contradict themselves or name absurd sizes: each is refused by name, without a panic and without much memory.

use crate::file::{BATCH, File};
use std::sync::Arc;
use weft::gguf::{Gguf, Value};
use weft::models::{Batch, Description};

/// What a file is refused for when a batch of it is planned.
fn complaint(file: &File, batch: &Batch) -> String {
    let gguf = Gguf::from_bytes("changed.gguf", file.written()).unwrap();
    let described = Description::new(Arc::new(gguf)).and_then(|model| model.graph(batch));
    described.map(|_| ()).expect_err("it contradicts itself").to_string()
}

/// Keys without the prefix of the architecture, values that do not fit, and what the error must name.
fn cases() -> Vec<(&'static str, &'static str, Value, &'static str)> {
    let mut all: Vec<(&str, &str, Value, &str)> = Vec::new();
    let mut add = |arch, key, value: Value, named| all.push((arch, key, value, named));
    // Sizes that every architecture has.
    for (key, values) in [
        ("embedding_length", &[0u32, u32::MAX][..]),
        ("block_count", &[0, 1 << 20, u32::MAX]),
        ("attention.head_count", &[0, u32::MAX]),
        ("attention.head_count_kv", &[0, 3, u32::MAX]),
        ("attention.key_length", &[0, u32::MAX]),
        ("attention.value_length", &[0, u32::MAX]),
        ("context_length", &[0]),
        ("nextn_predict_layers", &[2, 5, u32::MAX]),
        ("rope.dimension_count", &[3, u32::MAX]),
        ("ssm.conv_kernel", &[0, 1, u32::MAX]),
        ("ssm.state_size", &[0, u32::MAX]),
        ("ssm.group_count", &[0, u32::MAX]),
        ("ssm.time_step_rank", &[0, 3, u32::MAX]),
        ("ssm.inner_size", &[0, 7, u32::MAX]),
        ("full_attention_interval", &[0]),
    ] {
        values.iter().for_each(|value| add("qwen35", key, (*value).into(), key));
    }
    for sections in [[4i32, 4, 4, 4], [-1, 4, 4, 1], [i32::MAX; 4]] {
        let key = "rope.dimension_sections";
        add("qwen35", key, (&sections[..]).into(), key);
    }
    add("qwen35", "rope.dimension_sections", (&[8i32, 8][..]).into(), "rope.dimension_sections");
    for (key, value) in [
        ("attention.layer_norm_rms_epsilon", f32::NAN),
        ("rope.freq_base", 0.0),
        ("rope.freq_base", f32::INFINITY),
        ("rope.scaling.factor", -2.0),
        ("rope.scaling.factor", f32::NAN),
        ("rope.scaling.attn_factor", 0.0),
    ] {
        add("qwen35", key, value.into(), key);
    }
    add("qwen35", "rope.scaling.type", "longrope".into(), "rope.scaling.type");
    // Experts. Where key and tensor differ, the tensor is named with both shapes.
    for (key, value, named) in [
        ("expert_count", 7u32, "ffn_gate_inp.weight"),
        ("expert_count", 0, "feed_forward_length"),
        ("expert_used_count", 0, "expert_used_count"),
        ("expert_used_count", 9, "expert_used_count"),
        ("expert_used_count", u32::MAX, "expert_used_count"),
        ("expert_feed_forward_length", 0, "expert_feed_forward_length"),
        ("expert_feed_forward_length", u32::MAX, "expert_feed_forward_length"),
        ("expert_shared_feed_forward_length", 0, "expert_shared_feed_forward_length"),
    ] {
        add("qwen35moe", key, value.into(), named);
    }
    // Blocks that attention chooses, and n-grams.
    let key = "attention.compress_ratios";
    add("qwen4exp", key, (&[4i32, 4][..]).into(), key);
    add("qwen4exp", key, (&[4i32; 4][..]).into(), key);
    add("qwen4exp", "attention.indexer.top_k", 7u32.into(), "attention.indexer.top_k");
    add("qwen4exp", "attention.indexer.key_length", 0u32.into(), "attention.indexer.key_length");
    let key = "ple.layer_multipliers";
    // Multipliers that went through floats: as floats, or rounded to even numbers.
    add("qwen4exp", key, (&[1e12f32, 3e12, 5e12][..]).into(), key);
    add("qwen4exp", key, (&[1u64 << 40, 1 << 41, 1 << 42][..]).into(), key);
    add("qwen4exp", key, (&[1u64, 3][..]).into(), key);
    add("qwen4exp", "ple.head_vocab_sizes", (&[5u64][..]).into(), "ple.head_vocab_sizes");
    add("qwen4exp", "ple.layers", (&[3u32][..]).into(), "ple.layers");
    add("qwen4exp", "hyper_connection.count", 1u32.into(), "hyper_connection.count");
    all
}

#[test]
fn each_is_refused_by_name() {
    for (arch, key, value, named) in cases() {
        let what = format!("{arch}.{key} = {value}");
        let error = complaint(&File::read(arch).with(&format!("{arch}.{key}"), value), &BATCH);
        assert!(error.contains("changed.gguf") && error.contains(named), "{what}: {error}");
    }
}

#[test]
fn a_width_that_cannot_be_derived_is_asked_for() {
    let file = File::read("qwen35").without("qwen35.attention.key_length");
    let error = complaint(
        &file.with("qwen35.attention.head_count", 3u32).with("qwen35.attention.head_count_kv", 1u32),
        &BATCH,
    );
    assert!(error.contains("attention.key_length"), "{error}");
}
