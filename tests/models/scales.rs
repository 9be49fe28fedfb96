//! Factors that a file keeps apart from a matrix's values, `NAME.scale`: the model is that whose values hold them.

use crate::file::File;
use crate::{bound, exact, largest};
use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft::session::{DraftBy, Session, SessionOptions, Speculation};
use weft_tests::devices;
use weft_tests::fixtures::path;
use weft_tests::refs::References;

/// Parts of names that tell the matrices, which have factors, from what is not multiplied as one.
const MATRICES: &[&str] = &[
    "token_embd",
    "output",
    "attn_q",
    "attn_k",
    "attn_v",
    "attn_output",
    "attn_qkv",
    "attn_gate",
    "ssm_beta",
    "ssm_alpha",
    "ssm_out",
    "ffn_gate",
    "ffn_up",
    "ffn_down",
    "ffn_gate_exps",
    "ffn_up_exps",
    "ffn_down_exps",
    "ffn_gate_shexp",
    "ffn_up_shexp",
    "ffn_down_shexp",
    "nextn.eh_proj",
    "nextn.embed_tokens",
    "nextn.shared_head_head",
];

/// A factor for each matrix, powers of two so that nothing is rounded: of one tensor, or of each expert.
fn factors(name: &str, extents: &[u64]) -> Vec<f32> {
    let count = if name.ends_with("_exps") { extents[2] as usize } else { 1 };
    let seed = name.bytes().map(usize::from).sum::<usize>();
    (0..count).map(|expert| [0.25, 0.5, 2.0, 4.0][(seed + expert) % 4]).collect()
}

/// The file with each matrix divided by its factors, which stand beside it.
fn apart(mut file: File) -> (File, usize) {
    let names: Vec<String> = file.tensors.keys().cloned().collect();
    let mut count = 0;
    for whole in names {
        let Some(name) = whole.strip_suffix(".weight") else { continue };
        let tail =
            name.strip_prefix("blk.").and_then(|rest| rest.split_once('.')).map_or(name, |(_, tail)| tail);
        if !MATRICES.contains(&tail) {
            continue;
        }
        let (extents, bytes) = file.take(&whole).unwrap();
        let factors = factors(name, &extents);
        let each = bytes.len() / factors.len();
        let values = |(bytes, factor): (&[u8], &f32)| -> Vec<u8> {
            let value = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]) / factor;
            bytes.chunks(4).flat_map(|b| value(b).to_le_bytes()).collect()
        };
        let divided = bytes.chunks(each).zip(&factors).flat_map(values).collect();
        file.put(&whole, &extents, divided);
        let bytes = factors.iter().flat_map(|factor| factor.to_le_bytes()).collect();
        file.put(&format!("{name}.scale"), &[factors.len() as u64], bytes);
        count += 1;
    }
    (file, count)
}

/// Logits of the trunk and of the draft block.
fn logits(file: &File, backend: Arc<dyn weft_core::backend::Backend>, ids: &[u32]) -> (f32, [Vec<f32>; 2]) {
    let model = Model::new(Gguf::from_bytes("scales", file.written()).unwrap(), vec![backend]).unwrap();
    let speculation = Some(Speculation { by: DraftBy::Mtp, most: 2, least_probability: 0.0 });
    let options = SessionOptions { context: 256, speculation, ..SessionOptions::exact() };
    let drafts = Session::new(&model, options).unwrap().evaluate_drafts(ids).unwrap();
    (bound(&model), [exact(&model, 64).evaluate(ids, false).unwrap().logits, drafts])
}

#[test]
fn factors_beside_matrices_are_the_same_model() {
    for (name, least) in [("qwen35", 30), ("qwen35moe", 40)] {
        let references = References::read(&path(&format!("models/{name}.refs.safetensors.planes.zst")));
        let ids = &references.ids("ids")[..24];
        let file = File::read(name);
        let (changed, count) = apart(file.clone());
        assert!(count >= least, "{name}: {count} factors");
        for backend in devices::quick() {
            let (bound, want) = logits(&file, Arc::clone(&backend), ids);
            let (_, got) = logits(&changed, Arc::clone(&backend), ids);
            for (got, want) in got.iter().zip(&want) {
                let off = largest(got, want);
                eprintln!("{name} on {}: {off:e} with {count} factors apart", backend.name());
                assert!(off <= bound, "{name} on {}: {off}", backend.name());
            }
        }
    }
}

#[test]
fn factors_of_another_count_are_refused() {
    let (mut file, _) = apart(File::read("qwen35moe"));
    let name = "blk.1.ffn_down_exps.scale";
    file.take(name).unwrap();
    file.put(name, &[1], 1f32.to_le_bytes().to_vec());
    let error = crate::file::refused(&file).to_string();
    assert!(error.contains(name), "{error}");
}
