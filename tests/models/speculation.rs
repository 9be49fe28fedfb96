//! Speculation changes when tokens come, never which.

use crate::file::File;
use crate::hybrid::cases;
use crate::{argmax, bound, exact, fast, largest, models, of};
use std::ops::ControlFlow;
use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft::sampling::{Sampler, SamplingParams};
use weft::session::{DraftBy, GenerateOptions, SampleOn, Session, SessionOptions, Speculation};
use weft_tests::fixtures::path;
use weft_tests::{devices, drafter};

pub fn drafting(by: DraftBy, most: u64) -> Option<Speculation> {
    Some(Speculation { by, most, least_probability: 0.0 })
}

pub fn session(model: &Arc<Model>, speculation: Option<Speculation>, options: SessionOptions) -> Session {
    Session::new(model, SessionOptions { context: 512, speculation, ..options }).unwrap()
}

pub fn generated(session: &mut Session, params: &SamplingParams, prompt: &[u32], most: u64) -> Vec<u32> {
    let mut sampler = Sampler::new(params.clone()).unwrap();
    session.prefill(prompt).unwrap();
    prompt.iter().for_each(|id| sampler.accept(*id));
    let options = GenerateOptions { max_tokens: most, ignore_end: true, ..GenerateOptions::default() };
    session.generate(&mut sampler, &options, |_| ControlFlow::Continue(())).unwrap().ids
}

pub fn greedy() -> SamplingParams {
    SamplingParams { temperature: 0.0, ..SamplingParams::default() }
}

pub fn prompt(model: &Model) -> Vec<u32> {
    let options = weft::tokenizer::EncodeOptions { add_special: false, parse_special: true };
    model.tokenizer().encode("Once upon a time there was a shy dragon", options).unwrap()
}

/// Tokens that a software GPU generates in reasonable time, and all others.
pub fn tokens(model: &Model) -> u64 {
    if of(model) == "cpu" { 200 } else { 16 }
}

#[test]
fn a_draft_block_gives_its_references() {
    for case in cases() {
        let ids = case.references.ids("ids");
        if case.references.maybe_floats("mtp_logits").is_none() {
            eprintln!("left out: a draft block that has no references here; see WEFT_FIXTURES");
            continue;
        }
        for model in &case.models {
            for ubatch in [160, 7] {
                let options = SessionOptions { ubatch, ..SessionOptions::exact() };
                let mut session = session(model, drafting(DraftBy::Mtp, 3), options);
                let got = session.evaluate_drafts(&ids).unwrap();
                case.check(model, "mtp_logits", &got, 0, 512);
            }
        }
    }
}

#[test]
fn rows_of_a_small_ubatch_are_those_of_single_tokens() {
    for model in models(&path("../../models/weft-tales-12m.Q8_0.gguf")) {
        let ids = prompt(&model);
        for make in [exact, fast] {
            let mut one = make(&model, 512);
            one.prefill(&ids[..4]).unwrap();
            let single: Vec<f32> =
                ids[4..8].iter().flat_map(|id| one.decode(*id).unwrap().to_vec()).collect();
            let mut several = make(&model, 512);
            several.prefill(&ids[..4]).unwrap();
            let rows = several.evaluate(&ids[4..8], false).unwrap().logits;
            let equal = single.iter().zip(&rows).filter(|(a, b)| a.to_bits() == b.to_bits()).count();
            assert!(equal == single.len(), "{equal} of {} equal on {}", single.len(), of(&model));
        }
    }
}

#[test]
fn greedy_text_does_not_depend_on_guesses() {
    for model in models(&path("../../models/weft-tales-12m.Q8_0.gguf")) {
        let (ids, most) = (prompt(&model), tokens(&model));
        for options in [SessionOptions::default(), SessionOptions::exact()] {
            let want = generated(&mut session(&model, None, options.clone()), &greedy(), &ids, most);
            for (by, most_guessed) in
                [(DraftBy::Mtp, 1), (DraftBy::Mtp, 2), (DraftBy::Mtp, 3), (DraftBy::Ngram, 4)]
            {
                let mut guessing = session(&model, drafting(by, most_guessed), options.clone());
                let got = generated(&mut guessing, &greedy(), &ids, most);
                let timings = guessing.timings();
                eprintln!(
                    "{} by {by:?} of {most_guessed}: kept {} of {}",
                    of(&model),
                    timings.kept_tokens,
                    timings.drafted_tokens
                );
                let same = got.iter().zip(&want).take_while(|(got, want)| got == want).count();
                assert!(got == want, "{same} of {most} tokens on {} by {by:?} of {most_guessed}", of(&model));
                assert!(by == DraftBy::Ngram || timings.kept_tokens * 4 > timings.drafted_tokens);
            }
        }
    }
}

/// The draft block of a random model guesses nothing, nor does its text repeat: each round is taken back whole.
#[test]
fn wrong_guesses_leave_nothing_behind() {
    for case in cases() {
        for model in &case.models {
            let ids = case.references.ids("ids");
            let mut plain = session(model, None, SessionOptions::exact());
            let want = generated(&mut plain, &greedy(), &ids[..8], 40);
            let known = plain.tokens().to_vec();
            let after = plain.decode(3).unwrap().to_vec();
            let by = if model.description().drafts().unwrap() { DraftBy::Mtp } else { DraftBy::Ngram };
            for most in [1, 3] {
                let mut guessing = session(model, drafting(by, most), SessionOptions::exact());
                assert_eq!(generated(&mut guessing, &greedy(), &ids[..8], 40), want, "on {}", of(model));
                // And it goes on as if nothing had happened.
                assert_eq!(guessing.tokens(), known);
                let (got, want) = (guessing.decode(3).unwrap(), &after);
                assert!(largest(got, want) <= bound(model), "on {}", of(model));
            }
        }
    }
}

/// The draft block of a file, alone.
fn block_of(gguf: &Gguf) -> Gguf {
    Gguf::from_bytes("block.gguf", drafter::block_of(gguf)).unwrap()
}

#[test]
fn a_file_of_a_draft_block_alone_guesses_as_the_whole_file_does() {
    for file in ["../../models/weft-tales-12m.Q8_0.gguf", "models/qwen35-f32.gguf.planes.zst"] {
        for model in models(&path(file)) {
            let (ids, most) = match file.ends_with(".zst") {
                true => ((1..9).collect(), 24),
                false => (prompt(&model), tokens(&model)),
            };
            let options = SessionOptions::exact;
            let want = generated(&mut session(&model, None, options()), &greedy(), &ids, most);
            let mut whole = session(&model, drafting(DraftBy::Mtp, 3), options());
            assert_eq!(generated(&mut whole, &greedy(), &ids, most), want, "on {}", of(&model));
            let beside = model.with_drafter(block_of(model.gguf())).unwrap();
            let mut apart = session(&beside, drafting(DraftBy::Mtp, 3), options());
            assert_eq!(generated(&mut apart, &greedy(), &ids, most), want, "on {}", of(&model));
            let counts =
                |session: &Session| (session.timings().kept_tokens, session.timings().drafted_tokens);
            eprintln!("{file} on {}: kept {:?}", of(&model), counts(&apart));
            assert_eq!(counts(&apart), counts(&whole), "{file} on {}", of(&model));
            assert!(counts(&apart).1 > 0);
        }
    }
}

#[test]
fn a_draft_block_that_is_missing_or_alone_is_named() {
    let file = File::read("qwen35");
    let opened = |file: &File| Gguf::from_bytes("changed.gguf", file.written()).unwrap();
    let session_of = |gguf: Gguf| {
        let model = Model::new(gguf, vec![devices::reference()]).unwrap();
        let speculation = drafting(DraftBy::Mtp, 3);
        Session::new(&model, SessionOptions { context: 64, speculation, ..SessionOptions::exact() })
    };
    let text = |outcome: Result<Session, weft::Error>| outcome.map(|_| ()).unwrap_err().to_string();
    let without_key =
        opened(&file.clone().with("qwen35.nextn_predict_layers", 0u32).with("qwen35.block_count", 4u32));
    let error = text(session_of(without_key));
    assert!(error.contains("qwen35.nextn_predict_layers"), "{error}");
    for name in ["nextn.eh_proj", "nextn.enorm", "nextn.hnorm", "attn_q", "ffn_down"] {
        let mut lacking = file.clone();
        let name = format!("blk.4.{name}.weight");
        lacking.take(&name).unwrap();
        let error = text(session_of(opened(&lacking)));
        assert!(error.contains(&name), "{error}");
    }
    let alone = text(session_of(block_of(&opened(&file))));
    assert!(alone.contains("block.gguf") && alone.contains("--spec-draft-model"), "{alone}");
    // A block of another model is no drafter.
    let model = Model::new(opened(&file), vec![devices::reference()]).unwrap();
    let other = File::read("qwen35moe");
    let error = model.with_drafter(opened(&other)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("general.architecture"), "{error}");
}

#[test]
fn drawn_text_does_not_depend_on_guesses() {
    let sampled = SamplingParams { temperature: 1.0, seed: Some(7), ..SamplingParams::default() };
    let penalised = SamplingParams { repeat_penalty: 1.3, ..sampled.clone() };
    let plain = SamplingParams { top_k: 40, top_p: 1.0, min_p: 0.0, ..sampled.clone() };
    for model in models(&path("../../models/weft-tales-12m.Q8_0.gguf")) {
        let (ids, most) = (prompt(&model), tokens(&model).min(60));
        for (params, sample_on) in
            [(&sampled, SampleOn::Host), (&penalised, SampleOn::Host), (&plain, SampleOn::Device)]
        {
            let options = SessionOptions { sample_on, ..SessionOptions::default() };
            let want = generated(&mut session(&model, None, options.clone()), params, &ids, most);
            let mut guessing = session(&model, drafting(DraftBy::Mtp, 3), options);
            assert_eq!(generated(&mut guessing, params, &ids, most), want, "on {}", of(&model));
        }
    }
}

#[test]
fn a_sequence_goes_back_as_far_as_its_snapshots() {
    for model in models(&path("../../models/weft-tales-12m.Q8_0.gguf")) {
        let ids = prompt(&model);
        let mut session = session(&model, drafting(DraftBy::Mtp, 3), SessionOptions::exact());
        session.prefill(&ids).unwrap();
        let first = argmax(session.logits()) as u32;
        session.decode(first).unwrap();
        // One token leaves nothing to go back to.
        assert!(matches!(session.rewind(1), Err(weft::Error::Rewind { asked: 1, possible: 0 })));
        assert_eq!(session.tokens().len(), ids.len() + 1);
        session.reset();
        session.prefill(&ids).unwrap();
        session.rewind(2).unwrap();
        assert!(matches!(session.rewind(2), Err(weft::Error::Rewind { asked: 2, possible: 1 })));
        let again = session.prefill(&ids[ids.len() - 2..]).unwrap().to_vec();
        assert_eq!(argmax(&again) as u32, first);
        let most = ids.len() as u64;
        session.rewind(most).unwrap();
        assert!(session.tokens().is_empty());
    }
}
