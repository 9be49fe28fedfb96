//! Kernels of a GPU beside what a copy reaches there, over weights that no cache holds.
//!
//! `cargo bench -p weft-tests --bench roof [BACKEND] [PART OF A NAME]`: `wgpu` (or `wgpu:ADAPTER`), `hip`, and `hip-graph`,
//! which submits the launches as one graph. Of each kernel the variants that take the operands. One submission holds many
//! launches that wait for each other, as in a decode step; rates count what must move once, and time includes the launches.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weft::backends::{self, BackendOptions};
use weft_core::backend::{Backend, CompileRequest, Offer};
use weft_core::contract::{Access, Constants};
use weft_core::graph::{DType, Graph, Layout, Owner, Storage, StorageId, Tensor};
use weft_core::plan::{Binding, Cost, DevicePart, Dispatch, Place, Plan, Split};
use weft_core::segment::Segment;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Launches of one variant on storages of their own.
struct Bench<'a> {
    gpu: &'a dyn Backend,
    offer: &'a Offer,
    constants: Constants,
    storages: Vec<Storage>,
    layouts: Vec<Layout>,
    dispatches: Vec<Dispatch>,
    /// The table of segments, which is no pattern.
    table: Option<(StorageId, Vec<u8>)>,
}

/// Why a variant is not measured: it does not take the operands.
#[derive(Debug)]
struct Refused;

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the operands are not for it")
    }
}

impl std::error::Error for Refused {}

impl<'a> Bench<'a> {
    fn new(gpu: &'a dyn Backend, offer: &'a Offer, constants: Constants) -> Self {
        let (storages, layouts, dispatches, table) = Default::default();
        Bench { gpu, offer, constants, storages, layouts, dispatches, table }
    }

    fn storage(&mut self, dtype: DType, shape: [u64; 4]) -> Outcome<StorageId> {
        let layout = Layout::packed(dtype, shape).ok_or("a row of whole blocks")?;
        self.storages.push(Storage {
            name: format!("s{}", self.storages.len()),
            owner: Owner::Weight,
            bytes: layout.bytes(),
        });
        self.layouts.push(layout);
        Ok(StorageId(self.storages.len() as u32 - 1))
    }

    /// One launch on these ports.
    fn launch(&mut self, ports: &[(&str, StorageId)]) -> Outcome<()> {
        let contract = self.offer.contract;
        let binding = |port: &weft_core::contract::Port| {
            let (_, storage) = ports.iter().find(|(name, _)| *name == port.name)?;
            let tensor = Tensor { storage: *storage, layout: self.layouts[storage.index()], version: 0 };
            Some(Binding { port: port.name, access: port.access, tensor })
        };
        let bindings: Vec<Option<Binding>> = contract.ports.iter().map(binding).collect();
        let operands: Vec<Option<Layout>> = bindings.iter().map(|b| b.map(|b| b.tensor.layout)).collect();
        let mut constants = self.constants.clone();
        contract.check(&operands, &constants).map_err(|_| Refused)?;
        contract.derive(&operands, &mut constants).map_err(|_| Refused)?;
        self.dispatches.push(Dispatch {
            kernel: contract.kernel,
            variant: self.offer.variant,
            rule: "by hand",
            device: 0,
            nodes: Vec::new(),
            bindings,
            constants,
            phase: self.dispatches.len() as u32,
            cost: Cost::default(),
        });
        Ok(())
    }

    /// Seconds of one launch: the best of many submissions.
    fn seconds(self) -> Outcome<f64> {
        let mut buffers = HashMap::new();
        let written: Vec<bool> = (0..self.storages.len())
            .map(|at| {
                self.dispatches
                    .iter()
                    .flat_map(|d| d.bindings.iter().flatten())
                    .any(|b| b.tensor.storage.index() == at && b.access != Access::Read)
            })
            .collect();
        for (at, storage) in self.storages.iter().enumerate() {
            // Weights are imported, so that they are repacked as in a model.
            let buffer = if written[at] {
                self.gpu.allocate(&storage.name, storage.bytes)?
            } else {
                let table =
                    self.table.as_ref().filter(|(id, _)| id.index() == at).map(|(_, table)| table.clone());
                let bytes = table.unwrap_or_else(|| vec![0x11; storage.bytes as usize]);
                self.gpu.import(&storage.name, Arc::new(bytes), &self.layouts[at])?
            };
            buffers.insert(StorageId(at as u32), buffer);
        }
        let count = self.dispatches.len();
        let plan = Plan {
            devices: vec![DevicePart {
                name: self.gpu.name().to_owned(),
                arena_bytes: 0,
                input_bytes: 0,
                places: vec![Some(Place::Own); self.storages.len()],
            }],
            graph: Arc::new(Graph { storages: self.storages, ..Graph::default() }),
            dispatches: self.dispatches,
            splits: vec![Split { device: 0, first: 0, end: count, copies: Vec::new() }],
            last_copies: Vec::new(),
            output_devices: Vec::new(),
            placements: Vec::new(),
            trail: Vec::new(),
            revoked: Vec::new(),
            hash: 0,
        };
        let mut program = self.gpu.compile(&CompileRequest { plan: &plan, device: 0, buffers: &buffers })?;
        let mut best = f64::INFINITY;
        let begun = Instant::now();
        // A GPU that idled runs at a fraction of its clock for a while.
        while begun.elapsed() < Duration::from_millis(600) {
            let started = Instant::now();
            let ticket = program.begin(&[])?;
            program.submit(ticket, 0, None)?;
            while !program.poll(ticket)? {
                std::hint::spin_loop();
            }
            best = best.min(started.elapsed().as_secs_f64());
        }
        Ok(best / count as f64)
    }
}

/// Variants of a kernel, the general one left out where there is another.
fn variants<'a>(gpu: &'a dyn Backend, kernel: &str) -> Vec<&'a Offer> {
    let all: Vec<&Offer> = gpu.offers().iter().filter(|offer| offer.contract.kernel == kernel).collect();
    let tuned: Vec<&Offer> = all.iter().filter(|offer| offer.variant != "any").copied().collect();
    if tuned.is_empty() { all } else { tuned }
}

/// Launches of a submission, and bytes that they go through in turn.
const LAUNCHES: usize = 240;
const ROTATED: u64 = 700 << 20;

fn copy(gpu: &dyn Backend) -> Outcome<f64> {
    let shape = [4096, 16384, 1, 1];
    let mut best = f64::INFINITY;
    for offer in variants(gpu, "copy") {
        let mut bench = Bench::new(gpu, offer, Constants::new());
        let places = [
            bench.storage(DType::F32, shape)?,
            bench.storage(DType::F32, shape)?,
            bench.storage(DType::F32, shape)?,
        ];
        let launched =
            (0..40).try_for_each(|at| bench.launch(&[("x", places[at % 3]), ("out", places[(at + 1) % 3])]));
        if launched.is_ok() {
            best = best.min(bench.seconds()?);
        }
    }
    Ok(2.0 * 4.0 * 4096.0 * 16384.0 / best)
}

/// Bytes of weights and operations in a second.
fn product(
    gpu: &dyn Backend,
    offer: &Offer,
    dtype: DType,
    rows: u64,
    k: u64,
    tokens: u64,
) -> Outcome<(f64, f64)> {
    let mut bench = Bench::new(gpu, offer, Constants::new());
    let bytes = Layout::packed(dtype, [k, rows, 1, 1]).ok_or("whole rows")?.bytes();
    let count = if tokens <= 8 { (ROTATED / bytes + 1).max(2) } else { 1 };
    let weights = (0..count).map(|_| bench.storage(dtype, [k, rows, 1, 1])).collect::<Outcome<Vec<_>>>()?;
    let (x, out) =
        (bench.storage(DType::F32, [k, tokens, 1, 1])?, bench.storage(DType::F32, [rows, tokens, 1, 1])?);
    let launches = if tokens <= 8 && bytes < 100 << 20 { LAUNCHES } else { 40 };
    for at in 0..launches {
        bench.launch(&[("weight", weights[at % weights.len()]), ("x", x), ("out", out)])?;
    }
    let seconds = bench.seconds()?;
    Ok((bytes as f64 / seconds, 2.0 * (rows * k * tokens) as f64 / seconds))
}

/// Gate and up projection of one column: bytes of both in a second.
fn gated(gpu: &dyn Backend, offer: &Offer, dtype: DType, rows: u64, k: u64) -> Outcome<f64> {
    let mut bench = Bench::new(gpu, offer, Constants::new().integer("kind", 0));
    let bytes = Layout::packed(dtype, [k, rows, 1, 1]).ok_or("whole rows")?.bytes();
    let weights = (0..2 * (ROTATED / bytes / 2 + 1))
        .map(|_| bench.storage(dtype, [k, rows, 1, 1]))
        .collect::<Outcome<Vec<_>>>()?;
    let (x, out) = (bench.storage(DType::F32, [k, 1, 1, 1])?, bench.storage(DType::F32, [rows, 1, 1, 1])?);
    for at in 0..LAUNCHES {
        let pair = 2 * at % weights.len();
        bench.launch(&[("gate", weights[pair]), ("up", weights[pair + 1]), ("x", x), ("out", out)])?;
    }
    Ok(2.0 * bytes as f64 / bench.seconds()?)
}

/// Attention of one token over so many cells of halves, 16 heads of 256 on 4 heads of keys: seconds, and bytes of keys and
/// values in a second.
fn attention(gpu: &dyn Backend, offer: &Offer, cells: u64) -> Outcome<(f64, f64)> {
    let constants = Constants::new().float("scale", 0.0625).integer("act", 1);
    let mut bench = Bench::new(gpu, offer, constants);
    let bytes = 2 * 2 * 256 * 4 * cells;
    let caches = (0..2 * (ROTATED / bytes + 1))
        .map(|_| bench.storage(DType::F16, [256, cells, 4, 1]))
        .collect::<Outcome<Vec<_>>>()?;
    let q = bench.storage(DType::F32, [256, 1, 16, 1])?;
    let gate = bench.storage(DType::F32, [256, 16, 1, 1])?;
    let out = bench.storage(DType::F32, [256, 16, 1, 1])?;
    let segments = bench.storage(DType::I32, [8, 1, 1, 1])?;
    let all = Segment { position: cells as u32 - 1, count: 1, ..Segment::default() };
    bench.table = Some((segments, all.words().into_iter().flat_map(i32::to_le_bytes).collect()));
    for at in 0..LAUNCHES {
        let pair = 2 * at % caches.len();
        bench.launch(&[
            ("q", q),
            ("k", caches[pair]),
            ("v", caches[pair + 1]),
            ("segments", segments),
            ("gate", gate),
            ("out", out),
        ])?;
    }
    let seconds = bench.seconds()?;
    Ok((seconds, bytes as f64 / seconds))
}

/// What a delta net's layer took: seconds, and the rates of the state read and written and of everything that must move.
struct Delta {
    seconds: f64,
    state: f64,
    all: f64,
}

/// A layer of 32 heads for `slots` sequences of `tokens` tokens each.
fn delta(gpu: &dyn Backend, offer: &Offer, slots: u64, tokens: u64) -> Outcome<Delta> {
    let constants = Constants::new()
        .integer("key_heads", 16)
        .integer("snapshots", 1)
        .integer("heads", 0)
        .float("l2_eps", 1e-6)
        .integer("form", 1)
        .float("eps", 1e-6)
        .integer("act", 0)
        .integer("dilation", 1);
    let mut bench = Bench::new(gpu, offer, constants);
    let (heads, channels, rows) = (32, 8192, slots * tokens);
    let shapes: [(&str, DType, [u64; 4]); 11] = [
        ("x", DType::F32, [channels, rows, 1, 1]),
        ("conv", DType::F32, [4, channels, 1, 1]),
        ("alpha", DType::F32, [heads, rows, 1, 1]),
        ("dt", DType::F32, [heads, 1, 1, 1]),
        ("a", DType::F32, [heads, 1, 1, 1]),
        ("beta", DType::F32, [heads, rows, 1, 1]),
        ("z", DType::F32, [128, heads, rows, 1]),
        ("weight", DType::F32, [128, 1, 1, 1]),
        ("out", DType::F32, [128, heads, rows, 1]),
        ("history", DType::F32, [3, channels, slots, 1]),
        ("state", DType::F32, [128, 128, heads, slots]),
    ];
    let mut ports = Vec::new();
    for (name, dtype, shape) in shapes {
        ports.push((name, bench.storage(dtype, shape)?));
    }
    let segments = bench.storage(DType::I32, [8, slots, 1, 1])?;
    ports.push(("segments", segments));
    let count = u32::try_from(tokens)?;
    let of = |slot: u32| Segment { slot, row: slot * count, count, position: 9, ..Segment::default() };
    let table = (0..slots as u32).flat_map(|slot| of(slot).words()).flat_map(i32::to_le_bytes).collect();
    bench.table = Some((segments, table));
    for _ in 0..40 {
        bench.launch(&ports)?;
    }
    let state = 2 * 4 * 128 * 128 * heads * slots;
    // Inputs, the history before and after, gates, outputs.
    let rest = 4 * (channels * (rows + 6 * slots) + 2 * heads * rows + 2 * 128 * heads * rows);
    let seconds = bench.seconds()?;
    Ok(Delta { seconds, state: state as f64 / seconds, all: (state + rest) as f64 / seconds })
}

/// Prints what measurements give, if their lines are wanted.
struct Report<'a> {
    gpu: &'a dyn Backend,
    part: String,
    roof: f64,
}

impl Report<'_> {
    /// A line for each variant of a kernel that takes the operands.
    fn lines(&self, kernel: &str, what: &str, measure: impl Fn(&Offer) -> Outcome<String>) -> Outcome<()> {
        for offer in variants(self.gpu, kernel) {
            let name = format!("{kernel}/{} {what}", offer.variant);
            if !name.contains(&self.part) {
                continue;
            }
            match measure(offer) {
                Ok(text) => println!("{name}: {text}"),
                Err(error) if error.is::<Refused>() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn rate(&self, rate: f64) -> String {
        format!("{:.0} GB/s, {:.2} of the copy", rate / 1e9, rate / self.roof)
    }
}

/// Tokens from which a product is limited by arithmetic.
const MANY: [u64; 2] = [512, 2048];

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let (name, part) = (args.next().unwrap_or_else(|| "wgpu".to_owned()), args.next().unwrap_or_default());
    let (name, hip_graph) = match name.as_str() {
        "hip-graph" => ("hip", true),
        other => (other, false),
    };
    let gpu = match backends::open(name, &BackendOptions { hip_graph, ..BackendOptions::default() }) {
        Ok(all) => Arc::clone(&all[0]),
        Err(error) => {
            println!("left out: {error}");
            return Ok(());
        }
    };
    let gpu = &*gpu;
    println!("{}: {}", gpu.name(), gpu.capabilities().device);
    let report = Report { gpu, part, roof: copy(gpu)? };
    println!("copy: {:.0} GB/s", report.roof / 1e9);
    for dtype in [DType::Q8_0, DType::Q4_K, DType::Q6_K, DType::F16] {
        for (rows, k) in [(16384, 4096), (248_320, 2560), (2560, 9216), (9216, 2560), (2560, 4096)] {
            report.lines("mul_mat", &format!("{dtype} {rows} x {k}"), |offer| {
                Ok(report.rate(product(gpu, offer, dtype, rows, k, 1)?.0))
            })?;
        }
        report.lines("mul_mat_swiglu", &format!("{dtype} 9216 x 2560"), |offer| {
            Ok(report.rate(gated(gpu, offer, dtype, 9216, 2560)?))
        })?;
    }
    for cells in [4096, 18_782] {
        report.lines("gated_attention", &format!("of {cells} cells"), |offer| {
            let (seconds, rate) = attention(gpu, offer, cells)?;
            Ok(format!("{:.1} us, {}", seconds * 1e6, report.rate(rate)))
        })?;
    }
    for (dtype, rows, k) in
        [(DType::Q8_0, 9216, 2560), (DType::Q8_0, 16384, 4096), (DType::Q4_K, 16384, 4096)]
    {
        for tokens in MANY {
            report.lines("mul_mat", &format!("{dtype} {rows} x {k} x {tokens}"), |offer| {
                Ok(format!("{:.1} TFLOP/s", product(gpu, offer, dtype, rows, k, tokens)?.1 / 1e12))
            })?;
        }
    }
    for slots in [1, 128] {
        report.lines("gdn_layer", &format!("{} heads", 32 * slots), |offer| {
            let Delta { seconds, state, all } = delta(gpu, offer, slots, 1)?;
            Ok(format!("{:.1} us, {}; states alone {}", seconds * 1e6, report.rate(all), report.rate(state)))
        })?;
    }
    for tokens in [32, 512, 2048] {
        report.lines("gdn_layer", &format!("32 heads, {tokens} tokens"), |offer| {
            let Delta { seconds, .. } = delta(gpu, offer, 1, tokens)?;
            Ok(format!(
                "{:.0} us, {:.1} ns a head and token",
                seconds * 1e6,
                seconds * 1e9 / (32 * tokens) as f64
            ))
        })?;
    }
    Ok(())
}
