//! Kernels of the first real GPU beside what a copy reaches there, over weights that no cache holds.
//!
//! `cargo bench -p weft-wgpu --bench roof -- [ADAPTER [PART]]`: those whose line contains the part alone. One submission holds many launches that wait for each other, as in a
//! decode step; rates count what must move once, and time includes the launches.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weft_core::backend::{Backend, CompileRequest, DeviceError};
use weft_core::contract::{Access, Constants};
use weft_core::graph::{DType, Graph, Layout, Owner, Storage, StorageId, Tensor};
use weft_core::kernels;
use weft_core::plan::{Binding, Cost, DevicePart, Dispatch, Place, Plan, Split};
use weft_core::segment::Segment;
use weft_wgpu::{Options, Wgpu};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Launches of one kernel on storages of their own.
struct Bench<'a> {
    gpu: &'a Wgpu,
    kernel: &'static str,
    variant: &'static str,
    constants: Constants,
    storages: Vec<Storage>,
    layouts: Vec<Layout>,
    dispatches: Vec<Dispatch>,
    /// The table of segments, which is no pattern.
    table: Option<(StorageId, Vec<u8>)>,
}

impl<'a> Bench<'a> {
    fn new(gpu: &'a Wgpu, kernel: &'static str, variant: &'static str, constants: Constants) -> Self {
        let (storages, layouts, dispatches, table) = Default::default();
        Bench { gpu, kernel, variant, constants, storages, layouts, dispatches, table }
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
        let contract = &kernels::by_stem(self.kernel).ok_or("a kernel")?.contract;
        let binding = |port: &weft_core::contract::Port| {
            let (_, storage) = ports.iter().find(|(name, _)| *name == port.name)?;
            let tensor = Tensor { storage: *storage, layout: self.layouts[storage.index()], version: 0 };
            Some(Binding { port: port.name, access: port.access, tensor })
        };
        let bindings: Vec<Option<Binding>> = contract.ports.iter().map(binding).collect();
        let operands: Vec<Option<Layout>> = bindings.iter().map(|b| b.map(|b| b.tensor.layout)).collect();
        let mut constants = self.constants.clone();
        contract.check(&operands, &constants).map_err(|why| format!("{why:?}"))?;
        contract.derive(&operands, &mut constants).map_err(|why| format!("{why:?}"))?;
        self.dispatches.push(Dispatch {
            kernel: self.kernel,
            variant: self.variant,
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

/// Launches of a submission, and bytes that they go through in turn.
const LAUNCHES: usize = 240;
const ROTATED: u64 = 700 << 20;

fn copy(gpu: &Wgpu) -> Outcome<f64> {
    let mut bench = Bench::new(gpu, "copy", "rows", Constants::new());
    let shape = [4096, 16384, 1, 1];
    let places = [
        bench.storage(DType::F32, shape)?,
        bench.storage(DType::F32, shape)?,
        bench.storage(DType::F32, shape)?,
    ];
    for at in 0..40 {
        bench.launch(&[("x", places[at % 3]), ("out", places[(at + 1) % 3])])?;
    }
    let bytes = 2.0 * 4.0 * 4096.0 * 16384.0;
    Ok(bytes / bench.seconds()?)
}

fn product(
    gpu: &Wgpu,
    variant: &'static str,
    dtype: DType,
    rows: u64,
    k: u64,
    tokens: u64,
) -> Outcome<(f64, f64)> {
    let mut bench = Bench::new(gpu, "mul_mat", variant, Constants::new());
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
fn gated(gpu: &Wgpu, dtype: DType, rows: u64, k: u64) -> Outcome<f64> {
    let mut bench = Bench::new(
        gpu,
        "mul_mat_swiglu",
        if has_bytes(dtype) { "bytes" } else { "vec" },
        Constants::new().integer("kind", 0),
    );
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

/// Whether few columns are rounded to bytes for such weights.
fn has_bytes(dtype: DType) -> bool {
    matches!(dtype, DType::Q4_K | DType::Q6_K)
}

/// Attention of one token over so many cells of halves, 16 heads of 256 on 4 heads of keys: seconds, and bytes of keys and
/// values in a second.
fn attention(gpu: &Wgpu, cells: u64) -> Outcome<(f64, f64)> {
    let constants = Constants::new().float("scale", 0.0625).integer("act", 1);
    let mut bench = Bench::new(gpu, "gated_attention", "f16", constants);
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

/// A decode step of `slots` sequences of 32 heads: bytes of state read and written in a second.
fn delta(gpu: &Wgpu, slots: u64) -> Outcome<f64> {
    let constants = Constants::new()
        .integer("key_heads", 16)
        .integer("snapshots", 1)
        .integer("heads", 0)
        .float("l2_eps", 1e-6)
        .integer("form", 1)
        .float("eps", 1e-6)
        .integer("act", 0)
        .integer("dilation", 1);
    let mut bench = Bench::new(gpu, "gdn_layer", "heads", constants);
    let (heads, channels) = (32, 8192);
    let shapes: [(&str, DType, [u64; 4]); 11] = [
        ("x", DType::F32, [channels, slots, 1, 1]),
        ("conv", DType::F32, [4, channels, 1, 1]),
        ("alpha", DType::F32, [heads, slots, 1, 1]),
        ("dt", DType::F32, [heads, 1, 1, 1]),
        ("a", DType::F32, [heads, 1, 1, 1]),
        ("beta", DType::F32, [heads, slots, 1, 1]),
        ("z", DType::F32, [128, heads, slots, 1]),
        ("weight", DType::F32, [128, 1, 1, 1]),
        ("out", DType::F32, [128, heads, slots, 1]),
        ("history", DType::F32, [3, channels, slots, 1]),
        ("state", DType::F32, [128, 128, heads, slots]),
    ];
    let mut ports = Vec::new();
    for (name, dtype, shape) in shapes {
        ports.push((name, bench.storage(dtype, shape)?));
    }
    let segments = bench.storage(DType::I32, [8, slots, 1, 1])?;
    ports.push(("segments", segments));
    let of = |slot: u32| Segment { slot, row: slot, count: 1, position: 9, ..Segment::default() };
    let table = (0..slots as u32).flat_map(|slot| of(slot).words()).flat_map(i32::to_le_bytes).collect();
    bench.table = Some((segments, table));
    for _ in 0..40 {
        bench.launch(&ports)?;
    }
    let bytes = 2.0 * 4.0 * 128.0 * 128.0 * (heads * slots) as f64;
    Ok(bytes / bench.seconds()?)
}

/// Prints what a measurement gives, if its line is wanted.
struct Report {
    part: String,
    roof: f64,
}

impl Report {
    fn line(&self, name: &str, measure: impl FnOnce() -> Outcome<String>) -> Outcome<()> {
        if name.contains(&self.part) {
            println!("{name}: {}", measure()?);
        }
        Ok(())
    }

    fn bytes(&self, name: &str, measure: impl FnOnce() -> Outcome<f64>) -> Outcome<()> {
        self.line(name, || measure().map(|rate| self.rate(rate)))
    }

    fn rate(&self, rate: f64) -> String {
        format!("{:.0} GB/s, {:.2} of the copy", rate / 1e9, rate / self.roof)
    }
}

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let (adapter, part) = (args.next(), args.next().unwrap_or_default());
    let gpu = match Wgpu::open(&Options { adapter, ..Options::default() }) {
        Ok(gpu) => gpu,
        Err(DeviceError::Unavailable { reason, .. }) => {
            println!("left out: {reason}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    println!("{}", gpu.capabilities().device);
    let report = Report { part, roof: copy(&gpu)? };
    println!("copy: {:.0} GB/s", report.roof / 1e9);
    for dtype in [DType::Q8_0, DType::Q4_K, DType::Q6_K, DType::F16] {
        let variants = if has_bytes(dtype) { &["bytes", "vec"][..] } else { &["vec"] };
        for (rows, k) in [(16384, 4096), (248_320, 2560), (2560, 9216), (9216, 2560), (2560, 4096)] {
            for variant in variants.iter().copied() {
                let name = format!("mul_mat {variant} {dtype} {rows} x {k}");
                report.bytes(&name, || product(&gpu, variant, dtype, rows, k, 1).map(|(rate, _)| rate))?;
            }
        }
        let name = format!("mul_mat_swiglu {dtype} 9216 x 2560");
        report.bytes(&name, || gated(&gpu, dtype, 9216, 2560))?;
    }
    for cells in [4096, 18_782] {
        report.line(&format!("gated_attention of {cells} cells"), || {
            let (seconds, rate) = attention(&gpu, cells)?;
            Ok(format!("{:.1} us, {}", seconds * 1e6, report.rate(rate)))
        })?;
    }
    for (dtype, rows, k, tokens) in [
        (DType::Q8_0, 9216, 2560, 512),
        (DType::Q8_0, 16384, 4096, 512),
        (DType::Q8_0, 9216, 2560, 2048),
        (DType::Q4_K, 16384, 4096, 512),
        (DType::Q4_K, 9216, 2560, 2048),
    ] {
        report.line(&format!("mul_mat coop {dtype} {rows} x {k} x {tokens}"), || {
            let (_, rate) = product(&gpu, "coop", dtype, rows, k, tokens)?;
            Ok(format!("{:.1} TFLOP/s", rate / 1e12))
        })?;
    }
    for slots in [1, 128] {
        report.bytes(&format!("gdn_layer {} heads", 32 * slots), || delta(&gpu, slots))?;
    }
    Ok(())
}
