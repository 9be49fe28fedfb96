//! `qwen4exp` at the published budget of 2048 tokens: at its edge against references that `fixtures/models/long_context.py`
//! computed, and far beyond it device against device.

use crate::file::File;
use crate::qwen4exp::opened;
use crate::{bound, largest, of};
use std::sync::Arc;
use weft::Model;
use weft::gguf::Gguf;
use weft::models::SparseForm;
use weft::quantize::{QuantizeOptions, Recipe, quantize_to};
use weft::session::{Session, SessionOptions};
use weft_core::backend::Backend;
use weft_tests::devices;
use weft_tests::fixtures::path;
use weft_tests::refs::References;
use weft_tests::run::{bytes, floats};

const NAME: &str = "qwen4exp";
const VOCABULARY: usize = 512;
/// Tokens from which on blocks are chosen: 512 blocks of four, and one that is not whole.
const SPARSE: usize = 2052;
/// The lengths at which devices are compared.
const LENGTHS: [usize; 7] = [2047, 2048, 2051, SPARSE, 4269, 9140, 18_782];

fn references() -> References {
    References::read(&path("models/qwen4exp-2048.refs.safetensors.zst"))
}

/// The small model as the references have it: another budget, an index that leaves no ties, attention that is sharp.
fn file(references: &References) -> File {
    let mut file = File::read(NAME)
        .with("qwen4exp.attention.indexer.top_k", 2048u32)
        .with("qwen4exp.context_length", 32_768u32);
    let steady = references.floats("steady");
    for (name, turned) in [("blk.3.indexer.q_proj.weight", 64), ("blk.3.indexer.k_proj.weight", 32)] {
        let (extents, data) = file.take(name).unwrap();
        let mut rows = floats(&data);
        // The upper half of each head is not rotated; the last two heads of the query look the other way.
        for (at, row) in rows.chunks_exact_mut(steady.len()).enumerate().filter(|(at, _)| at % 32 >= 16) {
            let sign = if at < turned { 1.0 } else { -1.0 };
            row.iter_mut().zip(&steady).for_each(|(weight, steady)| *weight += sign * steady);
        }
        file.put(name, &extents, bytes(&rows));
    }
    let (extents, data) = file.take("blk.3.attn_q_norm.weight").unwrap();
    let sharp = references.floats("sharp")[0];
    let norm: Vec<f32> = floats(&data).iter().map(|weight| sharp * weight).collect();
    file.put("blk.3.attn_q_norm.weight", &extents, bytes(&norm));
    file
}

fn session(model: &Arc<Model>, context: u64) -> Session {
    Session::new(model, SessionOptions { context, ..SessionOptions::exact() }).unwrap()
}

/// Software GPUs differ little in what they run: one of them is enough for so many tokens.
fn is_slow(model: &Model) -> bool {
    let slow = of(model).contains("swiftshader");
    if slow {
        eprintln!("left out: {} is too slow for so many tokens", of(model));
    }
    slow
}

/// Rows from before the edge to behind it: in one ubatch over the edge, then one by one.
fn edge(model: &Arc<Model>, ids: &[u32], first: usize) -> Vec<f32> {
    let mut session = session(model, 2304);
    session.prefill(&ids[..first]).unwrap();
    let over = SPARSE + 1;
    let mut rows = session.evaluate(&ids[first..over], false).unwrap().logits;
    ids[over..].iter().for_each(|id| rows.extend(session.decode(*id).unwrap()));
    rows
}

#[test]
fn rows_at_the_edge_of_the_budget_equal_the_references() {
    let references = references();
    let (file, ids) = (file(&references), references.ids("ids"));
    let (want, dense) = (references.floats("logits"), references.floats("dense"));
    let first = ids.len() - want.len() / VOCABULARY;
    for form in [SparseForm::Lists, SparseForm::Masks] {
        for model in opened(&file, form) {
            if is_slow(&model) {
                continue;
            }
            let got = edge(&model, &ids, first);
            let (off, missed) = (largest(&got, &want), largest(&got, &dense));
            eprintln!("{form:?} on {}: {off:e}, from attention to all {missed:e}", of(&model));
            // What one block of 513 adds is less than the bound of GPUs.
            assert!(off <= bound(&model) && 10.0 * off <= missed, "{form:?} on {}: {off}", of(&model));
            if of(&model) == "cpu" {
                let mut session = session(&model, 2304);
                session.prefill(&ids[..first]).unwrap();
                for (id, want) in ids[first..].iter().zip(want.chunks(VOCABULARY)) {
                    let off = largest(session.decode(*id).unwrap(), want);
                    assert!(off <= bound(&model), "{form:?}, position {}: {off}", session.tokens().len() - 1);
                }
            }
        }
    }
}

/// Every matrix with rows of whole blocks as Q8_0, so that there is something to repack.
fn quantised(file: &File) -> Vec<u8> {
    let plain = Gguf::from_bytes(NAME, file.written()).unwrap();
    let options = QuantizeOptions::new(Recipe::from_name("Q8_0").unwrap());
    quantize_to(&plain, NAME, Vec::new(), &options, &mut |_| ()).unwrap()
}

#[test]
fn repacked_weights_and_the_files_own_blocks_cross_the_edge_alike() {
    let references = references();
    let (file, ids) = (quantised(&file(&references)), references.ids("ids"));
    let first = ids.len() - references.floats("logits").len() / VOCABULARY;
    let open = |backend: Arc<dyn Backend>| {
        let gguf = Gguf::from_bytes(NAME, file.clone()).unwrap();
        Model::new(gguf, vec![backend]).unwrap()
    };
    let want = edge(&open(devices::cpu(&weft_cpu::Options::default())), &ids, first);
    for repack in [true, false] {
        for gpu in devices::gpus(&weft_wgpu::Options { repack, ..devices::options() }) {
            let model = open(gpu);
            if !devices::admits(of(&model)) || is_slow(&model) {
                continue;
            }
            let off = largest(&edge(&model, &ids, first), &want);
            eprintln!("{}, repack {repack}: {off:e} from the CPU", of(&model));
            assert!(off <= bound(&model), "{}, repack {repack}: {off}", of(&model));
        }
    }
}

/// Ids without a pattern.
fn long_ids(count: usize) -> Vec<u32> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(7), next).map(|state| (state >> 16) % 509).take(count).collect()
}

/// Logits at each length, and of the token decoded behind it.
fn at_lengths(model: &Arc<Model>, ids: &[u32]) -> Vec<Vec<f32>> {
    let mut session = session(model, 20_480);
    let rows = LENGTHS.iter().map(|length| {
        let done = session.tokens().len();
        let mut rows =
            if done < *length { session.prefill(&ids[done..*length]).unwrap().to_vec() } else { Vec::new() };
        rows.extend(session.decode(ids[session.tokens().len()]).unwrap());
        rows
    });
    rows.collect()
}

#[test]
fn long_contexts_are_finite_and_alike_on_the_cpu_and_on_gpus() {
    if std::env::var_os("WEFT_FIXTURES").is_none() {
        eprintln!("left out: contexts up to {} tokens: set WEFT_FIXTURES, to any folder", LENGTHS[6]);
        return;
    }
    let is_gpu = |name: &str| !["cpu", "llvmpipe", "swiftshader"].iter().any(|slow| name.contains(slow));
    let gpus: Vec<_> = devices::quick().into_iter().filter(|device| is_gpu(device.name())).collect();
    if gpus.is_empty() {
        eprintln!("no GPU takes part: contexts up to {} tokens are only finite on the CPU", LENGTHS[6]);
    }
    let bytes = file(&references()).written();
    let open = |backend: Arc<dyn Backend>| {
        Model::new(Gguf::from_bytes(NAME, bytes.clone()).unwrap(), vec![backend]).unwrap()
    };
    let ids = long_ids(LENGTHS[6] + 1);
    let want = at_lengths(&open(devices::cpu(&weft_cpu::Options::default())), &ids);
    assert!(want.iter().flatten().all(|logit| logit.is_finite()));
    for gpu in gpus {
        let model = open(gpu);
        for ((got, want), length) in at_lengths(&model, &ids).iter().zip(&want).zip(LENGTHS) {
            let off = largest(got, want);
            eprintln!("{} tokens on {}: {off:e} from the CPU", length, of(&model));
            assert!(off <= bound(&model), "{length} tokens on {}: {off}", of(&model));
        }
    }
}
