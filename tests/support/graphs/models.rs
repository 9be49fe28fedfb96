//! Real models' graphs: from metadata alone, or with the weights of a synthetic model.

use super::Fixture;
use crate::run::{Data, int_bytes};
use std::sync::Arc;
use weft::gguf::Gguf;
use weft::models::{Batch, Description, Rows, names};
use weft::synth::{SynthSpec, write_to};
use weft_core::graph::{DType, Graph, Owner};
use weft_core::segment::Segment;

/// Models by architecture and size.
pub const MODELS: [(&str, &str); 13] = [
    ("qwen35", "tiny"),
    ("qwen35", "0.8b"),
    ("qwen35", "27b"),
    ("qwen35moe", "tiny"),
    ("qwen35moe", "35b-a3b"),
    ("qwen3next", "tiny"),
    ("qwen3next", "80b-a3b"),
    ("qwen4exp", "tiny"),
    ("qwen3moe", "tiny"),
    ("qwen2", "0.5b"),
    ("qwen3", "0.6b"),
    ("llama", "135m"),
    ("llama", "1b"),
];

/// Token counts at the edges of kernels and ubatches.
pub const TOKENS: [u64; 5] = [1, 7, 64, 512, 513];

/// A model's shape from metadata alone.
pub fn described(arch: &str, size: &str) -> Description {
    described_with(arch, size, "Q4_K_M")
}

/// The same with these weights.
pub fn described_with(arch: &str, size: &str, weights: &str) -> Description {
    let spec = SynthSpec::named(arch, size, weights).expect("a known model");
    let gguf = Gguf::from_head(size, spec.head().expect("a head")).expect("a readable head");
    Description::new(Arc::new(gguf)).expect("a known architecture")
}

/// A ubatch of one sequence.
pub fn ubatch(tokens: u64) -> Batch {
    let rows = if tokens == 1 { Rows::All } else { Rows::Some(1) };
    Batch { tokens, rows, ..Batch::token(1024, DType::F16.into()) }
}

/// The graph of a ubatch.
pub fn graph(model: &Description, batch: &Batch) -> Arc<Graph> {
    Arc::new(model.graph(batch).expect("a graph"))
}

/// A tiny model with weights, and one ubatch of two sequences: one new, one in the middle of its life.
pub fn tiny(arch: &str) -> Fixture {
    let spec = SynthSpec::named(arch, "tiny", "F32").expect("a known model");
    let bytes = write_to(arch, Vec::new(), &spec, &mut |_| ()).expect("a model");
    let gguf = Arc::new(Gguf::from_bytes(arch, bytes).expect("a readable model"));
    let model = Description::new(Arc::clone(&gguf)).expect("a known architecture");
    let (new, old, position) = (4, 3, 6);
    let (tokens, cells) = (new + old, 16);
    let rows = Rows::All;
    let batch = Batch { tokens, segments: 2, rows, slots: 2, ..Batch::token(cells, DType::F32.into()) };
    let graph = model.graph(&batch).expect("a graph");
    let mut data = Data::new();
    for storage in graph.storages.iter().filter(|s| s.owner == Owner::Weight) {
        let entry = gguf.tensor(&storage.name).expect("a tensor");
        let bytes = gguf.tensor_bytes(entry).expect("its bytes");
        data.insert(storage.name.clone(), bytes.as_ref().to_vec());
    }
    let place = |t: u64| if t < new { t } else { position + t - new };
    let ids: Vec<i32> = (0..tokens).map(|t| (7 + 31 * t as i32) % 250).collect();
    data.insert(names::TOKENS.to_owned(), int_bytes(&ids));
    let axes = graph.storage_named(names::POSITIONS).map_or(1, |id| graph.storage(id).bytes / 4 / tokens);
    let positions: Vec<i32> = (0..axes * tokens)
        .map(|i| if axes == 1 || i < 3 * tokens { place(i % tokens) as i32 } else { 0 })
        .collect();
    data.insert(names::POSITIONS.to_owned(), int_bytes(&positions));
    let slot = |t: u64| if t < new { 1 } else { 0 };
    let places: Vec<u8> =
        (0..tokens).flat_map(|t| ((slot(t) * cells + place(t)) as i64).to_le_bytes()).collect();
    data.insert(names::CACHE_ROWS.to_owned(), places);
    let segment = |slot, row, count, position: u64| Segment {
        slot,
        row,
        count,
        position: position as u32,
        fresh: position == 0,
        plane: 0,
    };
    let table = [segment(1, 0, new as u32, 0), segment(0, new as u32, old as u32, position)];
    let words: Vec<i32> = table.iter().flat_map(Segment::words).collect();
    data.insert(names::SEGMENTS.to_owned(), int_bytes(&words));
    if graph.storage_named(names::POOL_ROWS).is_some() {
        pools(&graph, &table, cells, &mut data);
    }
    Fixture { name: format!("{arch} tiny"), graph: Arc::new(graph), data }
}

/// Which blocks of index keys are whole after this ubatch and were not before.
fn pools(graph: &Graph, table: &[Segment], cells: u64, data: &mut Data) {
    let bytes = |name: &str| graph.storage_named(name).map_or(0, |id| graph.storage(id).bytes);
    let count = bytes(names::POOL_ROWS) / 8;
    let block = bytes(names::POOL_CELLS) / 4 / count;
    let whole = |s: &Segment| {
        let (start, end, slot) = (u64::from(s.position), u64::from(s.position + s.count), u64::from(s.slot));
        (start / block..end / block).map(move |b| (slot, b))
    };
    let blocks: Vec<(u64, u64)> = table.iter().flat_map(whole).collect();
    let mut members: Vec<i32> = blocks
        .iter()
        .flat_map(|(slot, b)| (0..block).map(move |i| (slot * cells + b * block + i) as i32))
        .collect();
    members.resize((block * count) as usize, 0);
    let mut places: Vec<i32> = blocks.iter().map(|(_, b)| (b * block) as i32).collect();
    places.resize(count as usize, 0);
    let mut rows: Vec<i64> = blocks.iter().map(|(slot, b)| (slot * (cells / block) + b) as i64).collect();
    rows.resize(count as usize, -1);
    data.insert(names::POOL_CELLS.to_owned(), int_bytes(&members));
    let axes = [&places[..], &places[..], &places[..], &vec![0; places.len()][..]].concat();
    data.insert(names::POOL_POSITIONS.to_owned(), int_bytes(&axes));
    data.insert(names::POOL_ROWS.to_owned(), rows.iter().flat_map(|row| row.to_le_bytes()).collect());
}
