//! Quantised caches: devices agree on what they hold, and models stay near what they give with caches of f32.

use crate::file::{BATCH, File};
use crate::speculation::{drafting, generated, greedy, prompt, session as guessing, tokens};
use crate::{Strayed, argmax, largest, models, of};
use std::path::Path;
use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft::models::{Batch, CacheTypes, Description, ModelError};
use weft::session::{DraftBy, Session, SessionOptions};
use weft_core::graph::DType;
use weft_tests::devices;
use weft_tests::fixtures::path;
use weft_tests::refs::{References, contents};

/// Width of a row of logits of the small models.
const VOCABULARY: usize = 512;
/// Tokens of a prompt, and behind them of those that are decoded one by one.
const PROMPT: usize = 100;
const TOKENS: usize = 108;

/// How far logits of the small models may be from those of the CPU with the same cache: as far as f32 sums in another order move
/// them. A value in the middle between two levels may become either; that moves them by a tenth of it.
const ALIKE: f32 = 2e-3;

const BYTES: CacheTypes = CacheTypes::both(DType::Q8_0);
const NIBBLES: CacheTypes = CacheTypes::both(DType::Q4_0);
const MIXED: CacheTypes = CacheTypes { keys: DType::Q8_0, values: DType::Q4_0 };

/// How far logits may be from those with a cache of f32, twice what they are: the largest difference, the divergence, and the
/// share of rows with the same likeliest token. Levels of four bits are sixteen times as coarse as those of eight.
type Near = (f32, f64, f64);

fn options(cache: CacheTypes) -> SessionOptions {
    SessionOptions { context: 256, cache, ..SessionOptions::exact() }
}

/// Logits of all tokens: of a prompt at once, of the others one by one.
fn logits(model: &Arc<Model>, cache: CacheTypes, ids: &[u32]) -> Vec<f32> {
    let mut session = Session::new(model, options(cache)).unwrap();
    let mut all = session.evaluate(&ids[..PROMPT], false).unwrap().logits;
    ids[PROMPT..].iter().for_each(|id| all.extend_from_slice(session.decode(*id).unwrap()));
    all
}

fn on_cpu(file: &Path) -> Arc<Model> {
    let gguf = Gguf::from_bytes("small", contents(file)).unwrap();
    Model::new(gguf, vec![devices::cpu(&weft_cpu::Options::default())]).unwrap()
}

#[test]
fn devices_agree_on_quantised_caches() {
    let cases: [(&str, CacheTypes, Near); 4] = [
        ("qwen35", BYTES, (1.5e-2, 6e-7, 1.0)),
        ("qwen35", NIBBLES, (0.24, 1.3e-4, 0.98)),
        ("qwen35", MIXED, (0.24, 8e-5, 0.98)),
        ("qwen4exp", MIXED, (9e-2, 8e-6, 0.98)),
    ];
    for (name, cache, (off, divergence, same)) in cases {
        let file = path(&format!("models/{name}-f32.gguf.planes.zst"));
        let references = References::read(&path(&format!("models/{name}.refs.safetensors.planes.zst")));
        let (ids, plain) = (&references.ids("ids")[..TOKENS], references.floats("logits"));
        let want = logits(&on_cpu(&file), cache, ids);
        let strayed = Strayed::of(&want, &plain[..want.len()], VOCABULARY);
        eprintln!("{name}, {cache}: {strayed}");
        assert!(strayed.within(off, divergence, same), "{name}, {cache}: {strayed}");
        for model in models(&file) {
            let off = largest(&logits(&model, cache, ids), &want);
            eprintln!("{name}, {cache}, {} from the CPU: {off:e}", of(&model));
            assert!(off <= ALIKE, "{name}, {cache}, {}: {off}", of(&model));
        }
    }
}

/// The answers stored for the default model, read with each cache and written with it.
#[test]
fn text_stays_near_that_of_a_cache_in_f32() {
    let stored: serde_json::Value =
        serde_json::from_slice(&std::fs::read(path("models/weft-tales-greedy.json")).unwrap()).unwrap();
    let item = &stored["items"][0];
    let ids = |name: &str| -> Vec<u32> {
        item[name].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
    };
    let (prompt, answer) = (ids("prompt_ids"), ids("greedy_ids"));
    let all = [&prompt[..], &answer].concat();
    for model in models(&path("../../models/weft-tales-12m.Q8_0.gguf")) {
        let evaluate = |cache| {
            let mut session = Session::new(&model, options(cache)).unwrap();
            session.evaluate(&all, false).unwrap().logits
        };
        let want = evaluate(DType::F32.into());
        let cases: [(CacheTypes, Near); 3] =
            [(BYTES, (0.15, 2.3e-5, 1.0)), (NIBBLES, (2.4, 2.8e-3, 0.98)), (MIXED, (1.3, 7e-4, 0.98))];
        for (cache, (off, divergence, same)) in cases {
            let strayed = Strayed::of(&evaluate(cache), &want, want.len() / all.len());
            let mut session = Session::new(&model, options(cache)).unwrap();
            session.prefill(&prompt).unwrap();
            eprintln!("{cache} on {}: {strayed}", of(&model));
            assert!(strayed.within(off, divergence, same), "{cache} on {}: {strayed}", of(&model));
            for (at, id) in answer.iter().enumerate().take(tokens(&model) as usize) {
                assert_eq!(argmax(session.logits()) as u32, *id, "{cache} on {}, id {at}", of(&model));
                session.decode(*id).unwrap();
            }
        }
    }
}

/// Rounds of speculation write cells, take them back and write them anew.
#[test]
fn guesses_leave_nothing_behind_in_quantised_caches() {
    for model in models(&path("../../models/weft-tales-12m.Q8_0.gguf")) {
        let (ids, most) = (prompt(&model), tokens(&model).min(60));
        let want = generated(&mut guessing(&model, None, options(BYTES)), &greedy(), &ids, most);
        let mut session = guessing(&model, drafting(DraftBy::Mtp, 3), options(BYTES));
        assert_eq!(generated(&mut session, &greedy(), &ids, most), want, "on {}", of(&model));
    }
}

#[test]
fn heads_that_are_no_whole_blocks_are_refused_with_a_reason() {
    let file = File::read("qwen35").with("qwen35.attention.key_length", 48u32);
    let file = file.with("qwen35.attention.value_length", 48u32);
    let description =
        Description::new(Arc::new(Gguf::from_bytes("changed", file.written()).unwrap())).unwrap();
    let refused =
        description.graph(&Batch { cache: BYTES, ..BATCH }).expect_err("48 values are no whole blocks");
    assert!(matches!(refused, ModelError::Batch { why, .. } if why.contains("whole blocks")), "{refused}");
}
