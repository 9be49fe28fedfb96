//! How fast a device moves bytes: what a copy reaches there.

use crate::backend::{Backend, Buffer, CompileRequest, DeviceError};
use crate::driver::{Offered, Options};
use crate::graph::{DType, Graph, GraphBuilder, GraphError, Op, StorageId};
use crate::plan;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Copies of one submission, so that what the submission costs is a small share.
const COPIES: usize = 24;
/// Bytes of one copy: at first, and at most.
const FIRST: u64 = 256 << 10;
const MOST: u64 = 256 << 20;
/// Submissions of which the best counts.
const RUNS: usize = 3;
/// A submission that takes this long is long enough, on a real device beyond its caches too.
const ENOUGH: Duration = Duration::from_millis(150);
/// Floats of a row.
const WIDTH: u64 = 4096;

/// Bytes that a copy reads and writes in a second, over blocks that grow until a submission takes 150 ms or a block has
/// 256 MiB.
///
/// # Errors
/// The device has no memory for two blocks, no kernel that copies, or was lost.
pub fn copy(backend: &dyn Backend) -> Result<f64, DeviceError> {
    let most = backend.capabilities().memory.map_or(MOST, |memory| MOST.min(memory / 8));
    let mut bytes = FIRST;
    loop {
        let time = submission(backend, bytes)?;
        if time >= ENOUGH || bytes * 4 > most {
            return Ok((2 * bytes * COPIES as u64) as f64 / time.as_secs_f64().max(1e-9));
        }
        bytes *= 4;
    }
}

/// The best time of a submission of copies of so many bytes.
fn submission(backend: &dyn Backend, bytes: u64) -> Result<Duration, DeviceError> {
    let refused = |reason: String| DeviceError::Unavailable { name: backend.name().to_owned(), reason };
    let graph = Arc::new(graph(bytes / (4 * WIDTH)).map_err(|error| refused(error.to_string()))?);
    let offered = [Offered { name: backend.name(), offers: backend.offers() }];
    let plan = plan::build(Arc::clone(&graph), &offered, &Options::default())
        .map_err(|error| refused(error.to_string()))?;
    let mut buffers: HashMap<StorageId, Buffer> = HashMap::new();
    for (at, storage) in graph.storages.iter().enumerate() {
        buffers.insert(StorageId(at as u32), backend.allocate(&storage.name, storage.bytes)?);
    }
    let mut program = backend.compile(&CompileRequest { plan: &plan, device: 0, buffers: &buffers })?;
    let mut best = Duration::MAX;
    // The first one touches memory for the first time, and finds a GPU that idles at a fraction of its clock.
    for run in 0..=RUNS {
        let started = Instant::now();
        let ticket = program.begin(&[])?;
        program.submit(ticket, 0, None)?;
        while !program.poll(ticket)? {
            std::thread::yield_now();
        }
        let time = started.elapsed();
        if run > 0 || time >= 4 * ENOUGH {
            best = best.min(time);
        }
        if time >= 4 * ENOUGH {
            break;
        }
    }
    Ok(best)
}

/// Two states, copied to each other in turn.
fn graph(rows: u64) -> Result<Graph, GraphError> {
    let mut g = GraphBuilder::new();
    let mut from = g.state("one", DType::F32, &[WIDTH, rows])?;
    let mut to = g.state("other", DType::F32, &[WIDTH, rows])?;
    for _ in 0..COPIES {
        let copied = g.op(Op::Copy, &[from, to])?;
        (from, to) = (copied, from);
    }
    g.output("copied", from)?;
    g.finish()
}
