//! Writing a synthetic model, tensor by tensor.
//!
//! Encoding billions of values would take minutes, so a matrix is put together from a pool: some thousand short
//! stretches of normal values, encoded once per type and deviation, of which each row takes a random sequence. Each
//! value is still normal with the wanted deviation, and two rows share a stretch at the same place only by chance.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use weft_core::graph::DType;
use weft_core::quant::encode_row;

use super::random::Random;
use super::spec::SynthSpec;
use super::tables::{Fill, Planned, planned};
use super::{SynthError, keys};
use crate::gguf::{GgufBody, GgufError, GgufWriter};

/// Stretches in a pool.
const POOL: usize = 4096;
/// The longest stretch, in values.
const STRETCH: u64 = 256;
/// Bytes written at a time.
const BATCH: usize = 1 << 20;

/// How far the writing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of weights written.
    pub done: u64,
    /// Bytes of weights in all.
    pub total: u64,
}

impl SynthSpec {
    /// The head of the model's file alone, for planning without weights (see [`crate::gguf::Gguf::from_head`]).
    ///
    /// # Errors
    /// [`SynthError::Shape`]
    pub fn head(&self) -> Result<Vec<u8>, SynthError> {
        self.check()?;
        Ok(head_of(self, &planned(self))?.head())
    }
}

/// Writes a model to a file: first under the path with `.part` behind it, which takes its name when it is complete.
///
/// # Errors
/// [`SynthError::Shape`], [`SynthError::Gguf`]
pub fn write(path: &Path, spec: &SynthSpec, progress: &mut dyn FnMut(Progress)) -> Result<(), SynthError> {
    let name = path.display().to_string();
    let fault = |source| GgufError::Io { file: name.clone(), source };
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    spec.check()?;
    let sink = BufWriter::with_capacity(BATCH, File::create(&part).map_err(fault)?);
    write_to(&name, sink, spec, progress)?;
    std::fs::rename(&part, path).map_err(fault)?;
    Ok(())
}

/// Writes a model to a sink and returns it; `name` stands for it in messages.
///
/// # Errors
/// As [`write()`].
pub fn write_to<W: Write>(
    name: &str,
    sink: W,
    spec: &SynthSpec,
    progress: &mut dyn FnMut(Progress),
) -> Result<W, SynthError> {
    spec.check()?;
    let tensors = planned(spec);
    let writer = head_of(spec, &tensors)?;
    let mut progress = Reporter { done: 0, total: writer.tensor_bytes(), call: progress };
    let mut body = writer.begin(name, sink)?;
    let mut pools = HashMap::new();
    for tensor in &tensors {
        let random = Random::new(spec.seed, &tensor.name);
        match tensor.fill {
            Fill::Matrix { deviation } => {
                let pool = pools.entry(Pool::key(tensor, deviation));
                let pool = match pool {
                    Entry::Occupied(entry) => entry.into_mut(),
                    Entry::Vacant(entry) => entry.insert(Pool::new(tensor, deviation, spec.seed)?),
                };
                pool.fill(&mut body, tensor, random, &mut progress)?;
            }
            fill => {
                let bytes = vector(tensor, fill, random)?;
                body.append(&bytes)?;
                progress.add(bytes.len());
            }
        }
    }
    Ok(body.finish()?)
}

struct Reporter<'a> {
    done: u64,
    total: u64,
    call: &'a mut dyn FnMut(Progress),
}

impl Reporter<'_> {
    fn add(&mut self, bytes: usize) {
        self.done += bytes as u64;
        (self.call)(Progress { done: self.done, total: self.total });
    }
}

fn head_of(spec: &SynthSpec, tensors: &[Planned]) -> Result<GgufWriter, GgufError> {
    let mut writer = GgufWriter::new();
    keys::set(&mut writer, spec);
    for tensor in tensors {
        writer.tensor(&tensor.name, tensor.dtype, &tensor.extents)?;
    }
    Ok(writer)
}

/// The bytes of a short tensor that is not a matrix.
fn vector(tensor: &Planned, fill: Fill, mut random: Random) -> Result<Vec<u8>, SynthError> {
    let mut value = || match fill {
        Fill::Matrix { deviation } => deviation * random.normal(),
        Fill::Norm => 1.0 + 0.1 * random.normal(),
        Fill::Decay => {
            let octave = [0.5, 1.0, 2.0, 4.0][(random.next() % 4) as usize];
            -octave * (1.0 + random.uniform())
        }
        Fill::TimeStep => -4.5 + 3.5 * random.uniform(),
    };
    let values: Vec<f32> = (0..tensor.extents.iter().product()).map(|_| value()).collect();
    encoded(tensor.dtype, &values)
}

fn encoded(dtype: DType, values: &[f32]) -> Result<Vec<u8>, SynthError> {
    let mut bytes = vec![0; dtype.row_bytes(values.len() as u64).unwrap_or(0) as usize];
    encode_row(dtype, values, &mut bytes)?;
    Ok(bytes)
}

/// Encoded stretches of normal values.
struct Pool {
    bytes: Vec<u8>,
    /// Bytes of one stretch.
    size: usize,
}

impl Pool {
    /// What two tensors must have in common to share a pool.
    fn key(tensor: &Planned, deviation: f32) -> (DType, u64, u32) {
        (tensor.dtype, stretch_of(tensor), deviation.to_bits())
    }

    fn new(tensor: &Planned, deviation: f32, seed: u64) -> Result<Self, SynthError> {
        let stretch = stretch_of(tensor);
        let mut random = Random::new(seed, &format!("{} {stretch} {deviation}", tensor.dtype));
        let values: Vec<f32> = (0..POOL as u64 * stretch).map(|_| deviation * random.normal()).collect();
        let bytes = encoded(tensor.dtype, &values)?;
        Ok(Self { size: bytes.len() / POOL, bytes })
    }

    fn fill<W: Write>(
        &self,
        body: &mut GgufBody<W>,
        tensor: &Planned,
        mut random: Random,
        progress: &mut Reporter<'_>,
    ) -> Result<(), SynthError> {
        let values: u64 = tensor.extents.iter().product();
        let mut batch = Vec::with_capacity(BATCH + self.size);
        for _ in 0..values / stretch_of(tensor) {
            let at = (random.next() % POOL as u64) as usize * self.size;
            batch.extend_from_slice(&self.bytes[at..at + self.size]);
            if batch.len() >= BATCH {
                body.append(&batch)?;
                progress.add(batch.len());
                batch.clear();
            }
        }
        body.append(&batch)?;
        progress.add(batch.len());
        Ok(())
    }
}

/// Values of one stretch: the longest power of two that divides the row, or one block.
fn stretch_of(tensor: &Planned) -> u64 {
    let row = tensor.extents.first().copied().unwrap_or(1);
    let even = 1 << row.trailing_zeros().min(STRETCH.trailing_zeros());
    even.max(tensor.dtype.block_values())
}
