//! Synthetic models are whole, sane and the same each time.

use weft::gguf::{Gguf, Strings};
use weft::synth::{Experts, Progress, SynthError, SynthSpec, Weights, write, write_to};
use weft_core::contract::FEW_BITS;
use weft_core::graph::DType;
use weft_core::quant::decode_row;

use crate::raw::walk;
use crate::reads::own_folder;

fn made(spec: &SynthSpec) -> Vec<u8> {
    write_to("synthetic", Vec::new(), spec, &mut |_| ()).unwrap()
}

fn decoded(model: &Gguf, name: &str) -> Vec<f32> {
    let entry = model.tensor(name).unwrap();
    let mut values = vec![f32::NAN; entry.values() as usize];
    decode_row(entry.dtype, model.tensor_bytes(entry).unwrap().as_ref(), &mut values).unwrap();
    values
}

#[test]
fn every_type_gives_matrices_of_the_right_spread() {
    for weights in [
        "F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "q4_k_m",
        "Q5_K_M",
    ] {
        let mut spec = SynthSpec::named("qwen35", "tiny", weights).unwrap();
        spec.shape.draft = true;
        let model = Gguf::from_bytes(weights, made(&spec)).unwrap();
        walk(&model);
        for entry in model.tensors() {
            let values = decoded(&model, &entry.name);
            assert!(values.iter().all(|x| x.is_finite()), "{}", entry.name);
            let count = values.len() as f64;
            let mean = values.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
            let squares = values.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / count;
            if entry.dims == 2 && !entry.name.contains("conv") {
                let wanted = 1.0 / entry.shape[0] as f64;
                assert!((squares / wanted - 1.0).abs() < 0.2, "{weights} {}: {squares}", entry.name);
                assert!(mean.abs() < 5.0 * (wanted / count).sqrt(), "{weights} {}: {mean}", entry.name);
            } else {
                assert_eq!(entry.dtype, DType::F32, "{}", entry.name);
            }
        }
        assert!(decoded(&model, "blk.0.ssm_a").iter().all(|a| (-8.0..=-0.5).contains(a)));
    }
}

#[test]
fn types_of_few_bits_give_matrices_of_their_type() {
    // Of codewords, which take long to find, the type with the fewest.
    let is_searched = |name: &str| name.starts_with("IQ") && !name.starts_with("IQ4") && name != "IQ2_XXS";
    for dtype in FEW_BITS.iter().filter(|dtype| !is_searched(dtype.name())) {
        let mut spec = SynthSpec::named("qwen35", "tiny", dtype.name()).unwrap();
        spec.shape.draft = true;
        let model = Gguf::from_bytes(dtype.name(), made(&spec)).unwrap();
        assert!(model.tensors().iter().any(|entry| entry.dtype == *dtype), "{dtype}");
        for entry in model.tensors() {
            let values = decoded(&model, &entry.name);
            let squares = values.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / values.len() as f64;
            assert!(values.iter().all(|x| x.is_finite()), "{dtype} {}", entry.name);
            if entry.dtype == *dtype {
                // Few levels make values larger or smaller than they were.
                let wanted = 1.0 / entry.shape[0] as f64;
                assert!((0.5..1.5).contains(&(squares / wanted)), "{dtype} {}: {squares}", entry.name);
            }
        }
    }
}

#[test]
fn a_hybrid_has_the_keys_that_loaders_need() {
    let mut spec = SynthSpec::named("qwen35", "tiny", "Q4_K_M").unwrap();
    spec.shape.draft = true;
    let model = Gguf::from_bytes("t", made(&spec)).unwrap();
    for (key, want) in [
        ("block_count", 5),
        ("nextn_predict_layers", 1),
        ("full_attention_interval", 4),
        ("ssm.conv_kernel", 4),
        ("ssm.state_size", 32),
        ("ssm.group_count", 4),
        ("ssm.time_step_rank", 8),
        ("ssm.inner_size", 256),
        ("rope.dimension_count", 16),
        ("attention.key_length", 64),
    ] {
        assert_eq!(model.get_u32(&format!("qwen35.{key}")).unwrap(), want, "{key}");
    }
    assert_eq!(model.get::<Vec<i32>>("qwen35.rope.dimension_sections").unwrap(), [3, 3, 2, 0]);
    let recurrent: Vec<bool> = model.get("qwen35.attention.recurrent_layers").unwrap();
    assert_eq!(recurrent, [true, true, true, false, false]);
    let tokens: Vec<&[u8]> = model.get::<Strings>("tokenizer.ggml.tokens").unwrap().collect();
    assert_eq!(tokens.len(), 512);
    assert_eq!(tokens[258], b"<|im_end|>");
    assert_eq!(tokens[259], b"[PAD259]");
    assert_eq!(model.get_u32("tokenizer.ggml.eos_token_id").unwrap(), 258);
    assert_eq!(model.get::<Strings>("tokenizer.ggml.merges").unwrap().len(), 0);
    // The mixture of common quantisers for four layers and a draft.
    let dtype = |name: &str| model.tensor(name).unwrap().dtype;
    assert_eq!(dtype("output.weight"), DType::Q6_K);
    assert_eq!(dtype("token_embd.weight"), DType::Q4_K);
    assert_eq!(dtype("blk.0.ffn_down.weight"), DType::Q4_K);
    assert_eq!(dtype("blk.2.attn_qkv.weight"), DType::Q6_K);
    assert_eq!(dtype("blk.4.attn_v.weight"), DType::Q6_K);
    assert_eq!(model.tensor("blk.3.attn_q.weight").unwrap().extents(), [256, 512]);
    assert!(model.find_tensor("blk.3.ssm_a").is_none());
}

#[test]
fn plain_architectures_have_their_tensors() {
    for (arch, has_norms) in [("llama", false), ("qwen2", false), ("qwen3", true)] {
        let model = Gguf::from_bytes(arch, made(&SynthSpec::named(arch, "tiny", "Q8_0").unwrap())).unwrap();
        assert_eq!(model.get_str("general.architecture").unwrap(), arch);
        assert_eq!(model.find_tensor("blk.0.attn_q_norm.weight").is_some(), has_norms);
        assert_eq!(model.tensor("blk.3.ffn_norm.weight").unwrap().extents(), [256]);
        assert_eq!(model.tensor("blk.0.attn_q.weight").unwrap().extents(), [256, 256]);
        assert_eq!(model.get_u32(&format!("{arch}.rope.dimension_count")).unwrap(), 64);
        assert_eq!(model.find_tensor("blk.0.attn_q.bias").is_some(), arch == "qwen2");
    }
}

#[test]
fn mixtures_have_their_tensors_and_keys() {
    for (arch, shared) in [("qwen35moe", true), ("qwen3next", true), ("qwen4exp", true), ("qwen3moe", false)]
    {
        let model = Gguf::from_bytes(arch, made(&SynthSpec::named(arch, "tiny", "Q4_K_M").unwrap())).unwrap();
        walk(&model);
        let key = |name: &str| model.get_u32(&format!("{arch}.{name}")).ok();
        assert_eq!((key("expert_count"), key("expert_used_count")), (Some(8), Some(3)));
        assert_eq!(key("expert_feed_forward_length"), Some(64));
        assert_eq!(key("expert_shared_feed_forward_length"), shared.then_some(64));
        assert_eq!(key("feed_forward_length"), None);
        let entry = |name: &str| model.tensor(name).unwrap();
        assert_eq!(entry("blk.0.ffn_gate_exps.weight").extents(), [256, 64, 8]);
        assert_eq!(entry("blk.0.ffn_gate_exps.weight").dtype, DType::Q4_K);
        assert_eq!(entry("blk.0.ffn_down_exps.weight").extents(), [64, 256, 8]);
        assert_eq!(entry("blk.0.ffn_gate_inp.weight").dtype, DType::F32);
        assert_eq!(model.find_tensor("blk.0.ffn_gate_inp_shexp.weight").is_some(), shared);
        assert!(model.find_tensor("blk.0.ffn_gate.weight").is_none());
        assert_eq!(model.find_tensor("blk.0.ssm_ba.weight").is_some(), arch == "qwen3next");
        let values = decoded(&model, "blk.3.ffn_up_exps.weight");
        let squares = values.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / values.len() as f64;
        assert!((squares * 256.0 - 1.0).abs() < 0.2, "{arch}: {squares}");
    }
}

#[test]
fn residual_streams_have_their_tensors_and_keys() {
    let model = Gguf::from_bytes("t", made(&SynthSpec::named("qwen4exp", "tiny", "Q8_0").unwrap())).unwrap();
    let entry = |name: &str| model.tensor(name).unwrap().extents();
    assert_eq!(entry("blk.0.hc_attn_down.weight"), [1024, 32]);
    assert_eq!(entry("blk.2.hc_ffn_inject.weight"), [1024, 4]);
    assert_eq!(entry("output_hc_norm.weight"), [1024]);
    assert_eq!(entry("per_layer_token_embd.weight"), [32, 4000]);
    assert_eq!(entry("blk.1.ple_conv1d.weight"), [4, 1024]);
    assert_eq!(entry("blk.3.indexer.q_proj.weight"), [256, 128]);
    for absent in [
        "output_norm.weight",
        "blk.0.attn_norm.weight",
        "blk.0.ple_key.weight",
        "blk.0.indexer.k_norm.weight",
    ] {
        assert!(model.find_tensor(absent).is_none(), "{absent}");
    }
    let ratios: Vec<i32> = model.get("qwen4exp.attention.compress_ratios").unwrap();
    assert_eq!(ratios, [0, 0, 0, 4]);
    let factors: Vec<u64> = model.get("qwen4exp.ple.layer_multipliers").unwrap();
    assert!(factors.iter().all(|factor| factor % 2 == 1 && factor * 511 < 1 << 63));
}

#[test]
fn sizes_have_about_as_many_parameters_as_their_names_say() {
    let cases = [
        ("qwen35", "0.8b", 0.75e9),
        ("qwen35", "2b", 1.88e9),
        ("qwen35", "4b", 4.2e9),
        ("qwen35", "9b", 8.95e9),
        ("qwen35", "27b", 26.9e9),
        ("qwen3", "0.6b", 0.6e9),
        ("qwen3", "32b", 32.8e9),
        ("qwen35moe", "35b-a3b", 34.66e9),
        ("qwen35moe", "122b-a10b", 122.1e9),
        ("qwen3next", "80b-a3b", 79.7e9),
        ("qwen4exp", "125b-a6b", 176e9),
        ("qwen3moe", "30b-a3b", 30.5e9),
        ("qwen3moe", "235b-a22b", 235.1e9),
        ("qwen2", "0.5b", 0.494e9),
        ("qwen2", "7b", 7.62e9),
        ("llama", "135m", 0.135e9),
        ("llama", "8b", 8.03e9),
    ];
    for (arch, size, want) in cases {
        let spec = SynthSpec::named(arch, size, "Q4_K_M").unwrap();
        let model = Gguf::from_head(size, spec.head().unwrap()).unwrap();
        let count: u64 = model.tensors().iter().map(|entry| entry.values()).sum();
        let off = count as f64 / want - 1.0;
        assert!(off.abs() < 0.02, "{arch} {size}: {count}");
    }
}

#[test]
fn rows_that_are_not_whole_blocks_fall_back() {
    let spec = SynthSpec::named("llama", "135m", "Q4_K_M").unwrap();
    let model = Gguf::from_head("t", spec.head().unwrap()).unwrap();
    let dtype = |name: &str| model.tensor(name).unwrap().dtype;
    assert_eq!(dtype("token_embd.weight"), DType::Q8_0);
    assert_eq!(dtype("blk.0.attn_q.weight"), DType::Q5_0);
    assert_eq!(dtype("blk.10.ffn_down.weight"), DType::Q4_K);
    assert_eq!(dtype("blk.0.ffn_down.weight"), DType::Q6_K);
}

#[test]
fn the_same_specification_gives_the_same_file() {
    let folder = own_folder();
    let path = folder.join("tiny.gguf");
    let mut spec = SynthSpec::named("qwen35", "tiny", "Q4_K_M").unwrap();
    let mut last = Progress { done: 0, total: 1 };
    write(&path, &spec, &mut |progress| {
        assert!(progress.done >= last.done);
        last = progress;
    })
    .unwrap();
    assert_eq!(last.done, last.total);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes, made(&spec));
    assert!(bytes.starts_with(&spec.head().unwrap()));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "the part file is gone");
    spec.seed = 1;
    assert_ne!(bytes, made(&spec));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn impossible_specifications_are_refused() {
    assert!(matches!(SynthSpec::named("gpt2", "tiny", "F32"), Err(SynthError::Arch { .. })));
    let error = SynthSpec::named("llama", "70b", "F32").unwrap_err();
    assert_eq!(error.to_string(), "no llama size is called \"70b\"; there are tiny, 135m, 1b, 8b");
    assert!(matches!(Weights::from_name("Q7_K"), Err(SynthError::Weights { .. })));
    let whole = SynthSpec::named("qwen35", "tiny", "F32").unwrap();
    let experts = |spec: &mut SynthSpec, count, used| {
        spec.shape.experts = Some(Experts { count, used, inner: 8, shared: 0 });
    };
    for (count, used) in [(0, 0), (8, 0), (8, 9), (5000, 8)] {
        let mut spec = whole;
        experts(&mut spec, count, used);
        assert!(matches!(spec.head(), Err(SynthError::Shape { .. })), "{used} of {count}");
    }
    let faults: [fn(&mut SynthSpec); 7] = [
        |spec| spec.shape.embedding = 0,
        |spec| spec.shape.feed_forward = u32::MAX,
        |spec| spec.shape.layers = 1_000_000,
        |spec| spec.shape.vocabulary = 258,
        |spec| spec.shape.kv_heads = 3,
        |spec| spec.shape.rope_width = 65,
        |spec| spec.shape.interval = 0,
    ];
    for fault in faults {
        let mut spec = whole;
        fault(&mut spec);
        let error = write_to("t", Vec::new(), &spec, &mut |_| ());
        assert!(matches!(error, Err(SynthError::Shape { .. })));
    }
}
