//! `qwen4exp`: attention that chooses blocks in both of its forms, however a prompt is cut; and files that contradict
//! themselves are refused by the name of the key.

use crate::file::{BATCH, File, refused};
use crate::hybrid::Case;
use crate::{bound, exact, fast, largest, models, of};
use std::io;
use std::sync::{Arc, Mutex};
use weft::Model;
use weft::gguf::{Gguf, Value};
use weft::models::{Batch, Description, ModelError, SparseForm};
use weft::session::{DraftBy, Session, SessionOptions, Speculation};
use weft_core::backend::Backend;
use weft_core::driver::Options;
use weft_core::graph::OpKind;
use weft_tests::devices;
use weft_tests::fixtures::{outside, path};
use weft_tests::graphs::models::{described, graph, ubatch};
use weft_tests::graphs::plan_for;
use weft_tests::hip;
use weft_tests::refs::References;

const NAME: &str = "qwen4exp";
const VOCABULARY: usize = 512;
/// The first position that does not see all others: 32 tokens and a block that is not whole yet.
const SPARSE: usize = 35;

fn references() -> References {
    References::read(&path("models/qwen4exp.refs.safetensors.planes.zst"))
}

/// The small model on every device, changed or not, with attention in this form.
pub fn opened(file: &File, form: SparseForm) -> Vec<Arc<Model>> {
    let bytes = file.written();
    let open = |backend| {
        let gguf = Gguf::from_bytes(NAME, bytes.clone()).unwrap();
        Model::with_sparse_form(gguf, vec![backend], form).unwrap()
    };
    devices::quick().into_iter().map(open).collect()
}

#[test]
fn blocks_are_pooled_and_chosen_alike_however_a_prompt_is_cut() {
    let file = path("models/qwen4exp-f32.gguf.planes.zst");
    let case = Case { name: NAME, references: references(), models: models(&file) };
    let ids = case.references.ids("ids");
    for model in &case.models {
        let on_cpu = of(model) == "cpu";
        let cuts: &[u64] = if on_cpu { &[2, 3, 5, 63, 65, 512] } else { &[63, 65] };
        for &ubatch in cuts {
            let got = exact(model, ubatch).evaluate(&ids, false).unwrap();
            case.check(model, "logits", &got.logits, 0, VOCABULARY);
        }
    }
}

#[test]
fn masks_give_what_lists_give() {
    let models = opened(&File::read(NAME), SparseForm::Masks);
    let case = Case { name: "qwen4exp by masks", references: references(), models };
    let ids = case.references.ids("ids");
    for model in &case.models {
        let got = exact(model, 64).evaluate(&ids, false).unwrap();
        case.check(model, "logits", &got.logits, 0, VOCABULARY);
        let mut session = exact(model, 512);
        session.prefill(&ids[..100]).unwrap();
        let got: Vec<f32> =
            ids[100..110].iter().flat_map(|id| session.decode(*id).unwrap().to_vec()).collect();
        let off = largest(&got, &case.references.floats("dec_logits")[..got.len()]);
        assert!(off <= bound(model), "decoding by masks on {}: {off}", of(model));
    }
}

/// Without the choice the same weights give something else, from the first token on that cannot see all others.
#[test]
fn what_is_not_chosen_is_not_attended_to() {
    let dense = File::read(NAME).with("qwen4exp.attention.compress_ratios", &[0i32; 4][..]);
    let references = references();
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for model in opened(&dense, SparseForm::Lists) {
        let got = exact(&model, 512).evaluate(&ids, false).unwrap().logits;
        let (start, device) = (SPARSE * VOCABULARY, of(&model));
        let before = largest(&got[..start], &want[..start]);
        let behind = largest(&got[start..], &want[start..]);
        eprintln!("dense on {device}: {before:e} before position {SPARSE}, {behind:e} behind");
        assert!(before <= bound(&model), "{device}: {before}");
        assert!((0.08..0.15).contains(&behind), "{device}: {behind}");
    }
}

/// The residual after each block, which is too large to commit.
#[test]
fn residual_streams_agree_with_the_larger_references() {
    let Some(file) = outside("models/qwen4exp.refs.safetensors") else {
        eprintln!("left out: residuals of qwen4exp: set WEFT_FIXTURES to the folder that holds models/");
        return;
    };
    let models = models(&path("models/qwen4exp-f32.gguf.planes.zst"));
    let case = Case { name: NAME, references: References::read(&file), models };
    let ids = case.references.ids("ids");
    for model in &case.models {
        let got = exact(model, 64).evaluate(&ids, true).unwrap();
        for (layer, rows) in got.hidden.iter().enumerate() {
            case.check(model, &format!("hidden_{layer}"), rows, 0, rows.len() / ids.len());
        }
    }
}

/// The edge of the published budget, 2048 tokens and a block that is not whole: plain attention up to it, lists behind it,
/// against masks on either side. Tokens are repeated, so that many scores are equal.
#[test]
fn the_edge_of_a_budget_of_2048_is_crossed_alike_by_lists_and_masks() {
    const EDGE: usize = 2051;
    let file = File::read(NAME).with("qwen4exp.attention.indexer.top_k", 2048u32);
    let start = references().ids("ids");
    let ids: Vec<u32> = start.iter().cycle().take(EDGE + 9).copied().collect();
    let options = SessionOptions { context: 4096, ..SessionOptions::exact() };
    for (lists, masks) in opened(&file, SparseForm::Lists).iter().zip(opened(&file, SparseForm::Masks)) {
        if of(lists) != "cpu" {
            eprintln!("left out: software GPUs are too slow for so many tokens");
            continue;
        }
        let mut session = Session::new(&masks, SessionOptions { ubatch: 64, ..options.clone() }).unwrap();
        session.prefill(&ids[..EDGE - 9]).unwrap();
        let want = session.evaluate(&ids[EDGE - 9..], false).unwrap().logits;
        let mut session = Session::new(lists, options.clone()).unwrap();
        session.prefill(&ids[..EDGE - 9]).unwrap();
        for (at, want) in (EDGE - 9..).zip(want.chunks(VOCABULARY)) {
            let seen = lists.description().chooses_all(at as u64 + 1);
            assert_eq!(seen, at < EDGE, "{at}");
            let off = largest(session.decode(ids[at]).unwrap(), want);
            assert!(off <= 1e-4, "position {at}: {off}");
        }
    }
}

/// Halves in caches and 8-bit activations move what is near a choice, so the worst row is told and the mean one is held.
#[test]
fn fast_arithmetic_stays_near_on_the_whole() {
    let references = references();
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for model in models(&path("models/qwen4exp-f32.gguf.planes.zst")) {
        let got = fast(&model, 64).evaluate(&ids, false).unwrap().logits;
        let mut offs: Vec<f32> =
            got.chunks(VOCABULARY).zip(want.chunks(VOCABULARY)).map(|(g, w)| largest(g, w)).collect();
        offs.sort_by(f32::total_cmp);
        let (median, worst) = (offs[offs.len() / 2], offs[offs.len() - 1]);
        eprintln!("fast on {}: median row {median:e}, worst {worst:e}", of(&model));
        assert!(median <= 1e-2 && worst <= 0.1, "{}: {median}, {worst}", of(&model));
    }
}

/// A sequence that starts over, or goes on behind another one, hashes its own tokens.
#[test]
fn a_session_that_starts_over_forgets_its_ngrams() {
    let references = references();
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    for model in models(&path("models/qwen4exp-f32.gguf.planes.zst")) {
        let mut session = exact(&model, 7);
        session.prefill(&ids[60..130]).unwrap();
        session.prefill_to(&ids[..50]).unwrap();
        let row = |at: usize| &want[at * VOCABULARY..(at + 1) * VOCABULARY];
        let off = largest(session.logits(), row(49));
        assert!(off <= bound(&model), "{}: {off}", of(&model));
        let off = largest(session.prefill_to(&ids[..90]).unwrap(), row(89));
        assert!(off <= bound(&model), "{}: {off}", of(&model));
    }
}

/// Two tokens are taken back, at every place in a block: what they left in index keys, n-grams and their convolution is gone.
#[test]
fn tokens_that_are_taken_back_leave_nothing_behind() {
    let references = references();
    let (ids, want) = (references.ids("ids"), references.floats("logits"));
    let by = Speculation { by: DraftBy::Ngram, most: 3, least_probability: 0.0 };
    let options = SessionOptions { context: 256, speculation: Some(by), ..SessionOptions::exact() };
    for model in models(&path("models/qwen4exp-f32.gguf.planes.zst")) {
        // Behind the edge from which blocks are chosen, and over it.
        for start in [SPARSE - 2, 60, 61, 62, 63] {
            let mut session = Session::new(&model, options.clone()).unwrap();
            session.prefill(&ids[..start]).unwrap();
            session.prefill(&[ids[start], 17, 400]).unwrap();
            session.rewind(2).unwrap();
            let off = largest(
                session.prefill(&ids[start + 1..start + 9]).unwrap(),
                &want[(start + 8) * VOCABULARY..(start + 9) * VOCABULARY],
            );
            assert!(off <= bound(&model), "{} from {start}: {off}", of(&model));
        }
    }
}

/// What a changed file is refused for must name the key.
fn names(file: File, key: &str) {
    let error = refused(&file);
    let named = match &error {
        ModelError::Unfit { what, .. } => what.contains(key),
        other => other.to_string().contains(key),
    };
    assert!(named, "{key}: {error}");
}

#[test]
fn keys_that_contradict_each_other_are_refused_by_name() {
    let file = File::read(NAME);
    let key = |name: &str| format!("qwen4exp.{name}");
    let with = |name: &str, value: Value| names(file.clone().with(&key(name), value), name);
    let ratios = "attention.compress_ratios";
    with(ratios, (&[0i32, 0, 4][..]).into());
    with(ratios, (&[4i32, 0, 0, 4][..]).into());
    with(ratios, (&[0i32, 0, 0, 1][..]).into());
    with(ratios, (&[0i32, 0, 0, -4][..]).into());
    with("attention.indexer.top_k", 30u32.into());
    with("attention.indexer.top_k", 0u32.into());
    with("attention.indexer.head_count", 0u32.into());
    with("attention.indexer.key_length", 8u32.into());
    with("rope.dimension_sections", (&[3i32, 3, 1, 0][..]).into());
    with("hyper_connection.count", 1u32.into());
    with("hyper_connection.low_rank", 0u32.into());
    with("attention.head_count_kv", 3u32.into());
    with("ssm.time_step_rank", 5u32.into());
    with("ple.layers", (&[1i32, 2][..]).into());
    with("ple.layers", (&[3i32][..]).into());
    with("ple.ngram_size", 1u32.into());
    with("ple.heads_per_ngram", 0u32.into());
    with("ple.conv_kernel", 1u32.into());
    with("embedding_length_per_layer_input", 8u32.into());
    let factors = "ple.layer_multipliers";
    // As floats their low bits are lost.
    with(factors, (&[4_295_158_889_763_781.0f32, 3.0, 5.0][..]).into());
    with(factors, (&[4_295_158_889_763_781u64, 17_440_218_147_737_327][..]).into());
    with(factors, (&[4_295_158_889_763_780u64, 17_440_218_147_737_327, 1_270_917_961_434_445][..]).into());
    with(factors, (&[u64::MAX, 3, 5][..]).into());
    with(factors, (&[-3i32, 3, 5][..]).into());
    with("ple.head_offsets", (&[0u64; 7][..]).into());
    with("ple.head_offsets", (&[u64::MAX; 8][..]).into());
    with("ple.head_vocab_sizes", (&[9000u64; 8][..]).into());
    with("ple.head_vocab_sizes", (&[0u64; 8][..]).into());
    for name in [
        "attention.indexer.top_k",
        "ple.eos_token_id",
        "ple.layer_multipliers",
        "hyper_connection.low_rank",
        "embedding_length_per_layer_input",
    ] {
        names(file.clone().without(&key(name)), name);
    }
    for tensor in ["per_layer_token_embd.weight", "blk.3.indexer.q_proj.weight", "output_hc_down.weight"] {
        let mut lacking = file.clone();
        lacking.take(tensor);
        // Wide enough a cache that not all of it is attended to.
        let error = Description::new(Arc::new(Gguf::from_bytes("lacking", lacking.written()).unwrap()))
            .and_then(|model| model.graph(&Batch { cells: 256, ..BATCH }))
            .expect_err("a tensor is missing");
        assert!(error.to_string().contains(tensor), "{error}");
    }
}

/// A cache that holds no more than is attended to needs no index.
#[test]
fn a_short_context_attends_to_all_of_it() {
    let gguf = Gguf::from_bytes(NAME, File::read(NAME).written()).unwrap();
    let model = Description::new(Arc::new(gguf)).unwrap();
    for (cells, sparse) in [(35, 0), (36, 1), (256, 1)] {
        let graph = model.graph(&Batch { cells, ..BATCH }).unwrap();
        let count = |kind| graph.nodes.iter().filter(|node| node.op.kind() == kind).count();
        assert_eq!(count(OpKind::BlockAttention), sparse, "{cells}");
        assert_eq!(count(OpKind::FlashAttention), 1 - sparse, "{cells}");
        assert_eq!(graph.storage_named("index.raw.3").is_some(), sparse == 1, "{cells}");
    }
}

/// Every node has a kernel on the first device, long contexts and both forms of attention included.
#[test]
fn a_model_of_true_size_is_planned_whole() {
    let model = described(NAME, "125b-a6b");
    let layers = 12;
    let stand_ins = hip::stand_ins().iter().map(|gpu| Arc::clone(gpu) as Arc<dyn Backend>);
    for device in devices::quick().into_iter().chain(stand_ins) {
        for (tokens, cells, whole) in
            [(1, 32_768, false), (64, 32_768, false), (512, 32_768, true), (1, 1024, false)]
        {
            let graph = graph(&model, &Batch { cells, whole, ..ubatch(tokens) });
            let census =
                plan_for(&graph, std::slice::from_ref(&device), &Options::default()).unwrap().census();
            let what = format!("{tokens} of {cells} on {}: {} dispatches", device.name(), census.dispatches);
            eprintln!("{what}");
            assert_eq!((census.off_device, census.splits), (0, 1), "{what}");
            let sparse = cells > 2048 && !whole;
            let named = census.kernels.iter().filter(|(name, _)| name.starts_with("block_attention/"));
            let count: usize = named.map(|(_, count)| count).sum();
            assert_eq!(count, if sparse { layers } else { 0 }, "{what}");
        }
    }
}

/// What is logged, as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What opening a file warns of.
fn warned(file: &File) -> String {
    let log = Log::default();
    let writer = log.clone();
    let listener = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(move || writer.clone())
        .finish();
    let gguf = Arc::new(Gguf::from_bytes("wrong.gguf", file.written()).unwrap());
    tracing::subscriber::with_default(listener, || Description::new(gguf).map(drop)).unwrap();
    String::from_utf8(log.0.lock().unwrap().clone()).unwrap()
}

#[test]
fn an_index_that_no_layer_uses_is_warned_of() {
    let key = "attention.compress_ratios";
    let file = File::read(NAME);
    assert_eq!(warned(&file), "");
    for file in [
        file.clone().with(&format!("qwen4exp.{key}"), &[0i32; 4][..]),
        file.without(&format!("qwen4exp.{key}")),
    ] {
        let text = warned(&file);
        assert!(text.contains(key) && text.contains("wrong.gguf"), "{text}");
    }
}
