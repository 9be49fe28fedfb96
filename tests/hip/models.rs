//! Whole models on stand-ins for the runtime: the code for gfx1151 in an emulator, the same texts on fibers.

use crate::{from_file, largest};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use weft::models::CacheTypes;
use weft::session::{Session, SessionOptions};
use weft_core::backend::Backend;
use weft_core::graph::DType;
use weft_tests::devices;
use weft_tests::fixtures::{outside, path};
use weft_tests::hip;
use weft_tests::refs::References;

/// How far logits in exact arithmetic may be from the references.
const EXACT: f32 = 2e-3;
/// In fast arithmetic: f32 weights; quantised ones, as far as llama.cpp's own are on the same file.
const FAST: f32 = 3e-2;
const FAST_Q4_K_M: f32 = 0.63;
const FAST_IQ1_S: f32 = 0.47;
/// The most of any file.
const FAST_MOST: f32 = 1.02;

/// Tokens of a prompt that crosses the edge of a chunk.
const PROMPT: usize = 70;

/// Logits of a prompt in ubatches, then of eight decoded tokens, beside what the references say; how far off they are at
/// most.
fn walk(mut session: Session, ids: &[u32], want: &[f32], bound: f32, what: &str) -> f32 {
    let width = want.len() / ids.len();
    let row = |at: usize| &want[at * width..(at + 1) * width];
    session.prefill(&ids[..PROMPT]).unwrap();
    let off = largest(session.logits(), row(PROMPT - 1));
    assert!(off <= bound, "{what}, prompt: {off}");
    let mut most = off;
    for (at, id) in ids.iter().enumerate().skip(PROMPT).take(8) {
        let off = largest(session.decode(*id).unwrap(), row(at));
        assert!(off <= bound, "{what}, token {at}: {off}");
        most = most.max(off);
    }
    most
}

#[test]
fn a_hybrid_model_in_f32_agrees_with_the_references() {
    let references = References::read(&path("models/qwen35.refs.safetensors.planes.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for gpu in hip::stand_ins() {
        let model =
            from_file(&path("models/qwen35-f32.gguf.planes.zst"), vec![Arc::clone(gpu) as Arc<dyn Backend>]);
        let exact = SessionOptions { context: 128, ..SessionOptions::exact() };
        let fast = SessionOptions { context: 128, ..SessionOptions::default() };
        walk(Session::new(&model, exact).unwrap(), &ids, &want, EXACT, &format!("{} exact", gpu.name()));
        walk(Session::new(&model, fast).unwrap(), &ids, &want, FAST, &format!("{} fast", gpu.name()));
    }
}

/// Keys and values in blocks: as near to the CPU's as arithmetic lets it be.
#[test]
fn quantised_caches_agree_with_the_cpu() {
    let ids = References::read(&path("models/qwen35.refs.safetensors.planes.zst")).ids("ids");
    let file = path("models/qwen35-f32.gguf.planes.zst");
    let cpu = from_file(&file, vec![devices::cpu(&weft_cpu::Options::default())]);
    for cache in [DType::Q8_0, DType::Q4_0].map(CacheTypes::both) {
        let exact = SessionOptions { context: 128, cache, ..SessionOptions::exact() };
        let want =
            Session::new(&cpu, exact.clone()).unwrap().evaluate(&ids[..PROMPT + 8], false).unwrap().logits;
        for gpu in hip::stand_ins() {
            let model = from_file(&file, vec![Arc::clone(gpu) as Arc<dyn Backend>]);
            let what = format!("{} with {cache}", gpu.name());
            walk(Session::new(&model, exact.clone()).unwrap(), &ids[..PROMPT + 8], &want, EXACT, &what);
        }
    }
}

/// Prompt and tokens lie behind the position from which not all blocks are chosen.
#[test]
fn a_model_that_chooses_blocks_agrees_with_the_references() {
    let references = References::read(&path("models/qwen4exp.refs.safetensors.planes.zst"));
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for gpu in hip::stand_ins() {
        let file = path("models/qwen4exp-f32.gguf.planes.zst");
        let model = from_file(&file, vec![Arc::clone(gpu) as Arc<dyn Backend>]);
        let exact = SessionOptions { context: 128, ..SessionOptions::exact() };
        walk(Session::new(&model, exact).unwrap(), &ids, &want, EXACT, &format!("{} exact", gpu.name()));
    }
}

/// A quantised file in both arithmetics on every stand-in.
fn quantised(name: &str, file: &Path, references: &Path, bound: f32) {
    let references = References::read(references);
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for gpu in hip::stand_ins() {
        let model = from_file(file, vec![Arc::clone(gpu) as Arc<dyn Backend>]);
        let exact = SessionOptions { context: 128, ..SessionOptions::exact() };
        let fast = SessionOptions { context: 128, ..SessionOptions::default() };
        let what = format!("{name} on {}", gpu.name());
        let exact = walk(Session::new(&model, exact).unwrap(), &ids, &want, EXACT, &format!("{what} exact"));
        let fast = walk(Session::new(&model, fast).unwrap(), &ids, &want, bound, &format!("{what} fast"));
        eprintln!("{what}: exact {exact:e}, fast {fast:e}");
    }
}

#[test]
fn quantised_hybrid_models_agree_with_the_references() {
    for (name, bound) in [("qwen35k-Q4_K_M", FAST_Q4_K_M), ("qwen35k-IQ1_S", FAST_IQ1_S)] {
        let (file, references) =
            (format!("models/{name}.gguf.zst"), format!("models/{name}.refs.safetensors.planes.zst"));
        quantised(name, &path(&file), &path(&references), bound);
    }
}

/// Files too large to commit, from the folder that `WEFT_FIXTURES` names.
#[test]
fn quantised_models_of_every_type_agree_with_the_references() {
    let Some(folder) = outside("quants") else {
        eprintln!("left out: files of every type: set WEFT_FIXTURES to the folder that holds quants/");
        return;
    };
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "gguf"));
    files.sort();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        quantised(&name, &file, &file.with_extension("refs.safetensors"), FAST_MOST);
    }
}

#[test]
fn the_default_model_begins_with_the_stored_ids() {
    let stored: Value =
        serde_json::from_slice(&std::fs::read(path("models/weft-tales-greedy.json")).unwrap()).unwrap();
    let item = &stored["items"][0];
    let numbers = |value: &Value| -> Vec<u32> {
        value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
    };
    let (prompt, want) = (numbers(&item["prompt_ids"]), numbers(&item["greedy_ids"]));
    for gpu in hip::stand_ins() {
        let file = path("../../models/weft-tales-12m.Q8_0.gguf");
        let model = from_file(&file, vec![Arc::clone(gpu) as Arc<dyn Backend>]);
        let options = SessionOptions { context: 256, ..SessionOptions::exact() };
        let mut session = Session::new(&model, options).unwrap();
        session.prefill(&prompt).unwrap();
        for (at, id) in want[..8].iter().enumerate() {
            let logits = session.logits();
            let most = (0..logits.len()).fold(0, |best, i| if logits[i] > logits[best] { i } else { best });
            assert_eq!(most as u32, *id, "{}, id {at}", gpu.name());
            session.decode(*id).unwrap();
        }
    }
}
