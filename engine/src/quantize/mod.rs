//! Writing a model's matrices in other types, as common quantisers do it for this family of models.
//!
//! Tensors are streamed: a batch of rows is decoded, encoded by all threads, and written.

mod error;
mod importance;
mod parts;
mod recipe;
mod rows;

pub use error::QuantizeError;
pub use importance::Importance;
pub use recipe::Recipe;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use weft_core::graph::DType;
use weft_core::quant::block_type;

use crate::gguf::{Gguf, GgufError, GgufWriter, TensorEntry};
use parts::Parts;
use recipe::Facts;

/// What `general.quantization_version` says: the layout of blocks that all files of today have.
const VERSION: u32 = 2;

/// How a file is quantised.
#[derive(Clone, Debug)]
pub struct QuantizeOptions {
    /// Which type each matrix gets.
    pub recipe: Recipe,
    /// Which columns matter more than others.
    pub importance: Option<Importance>,
    /// Whether matrices that are quantised already may lose once more.
    pub allow_requantize: bool,
    /// How many threads encode; 0 takes all.
    pub threads: usize,
}

impl QuantizeOptions {
    /// Without an importance matrix, from unquantised files, by all threads.
    pub const fn new(recipe: Recipe) -> Self {
        Self { recipe, importance: None, allow_requantize: false, threads: 0 }
    }
}

/// How far the writing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of weights written.
    pub done: u64,
    /// Bytes of weights in all.
    pub total: u64,
}

/// Writes a quantised model to a file: first under the path with `.part` behind it, which takes its name when it is
/// complete.
///
/// # Errors
/// As [`quantize_to`].
pub fn quantize(
    model: &Gguf,
    path: &Path,
    options: &QuantizeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), QuantizeError> {
    let name = path.display().to_string();
    let fault = |source| GgufError::Io { file: name.clone(), source };
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    // Nothing is created for a model that is refused.
    planned(model, options)?;
    let sink = BufWriter::with_capacity(1 << 20, File::create(&part).map_err(fault)?);
    quantize_to(model, &name, sink, options, progress)?;
    std::fs::rename(&part, path).map_err(fault)?;
    Ok(())
}

/// Writes a quantised model to a sink and returns it; `name` stands for it in messages. Metadata stay as they are, but
/// for what tells the types and what tells of split files.
///
/// # Errors
/// [`QuantizeError::Quantised`] unless that is allowed, [`QuantizeError::Undecodable`],
/// [`QuantizeError::ImportanceShape`], [`QuantizeError::Gguf`]
pub fn quantize_to<W: Write>(
    model: &Gguf,
    name: &str,
    sink: W,
    options: &QuantizeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<W, QuantizeError> {
    let types = planned(model, options)?;
    let mut writer = GgufWriter::new();
    for (key, value) in model.metadata().iter().filter(|(key, _)| !key.starts_with("split.")) {
        writer.set(key, value.clone());
    }
    // Tensors follow each other at the usual alignment, whatever the source had.
    if model.metadata().value("general.alignment").is_some() {
        writer.set("general.alignment", 32u32);
    }
    writer.set("general.quantization_version", VERSION);
    writer.set("general.file_type", options.recipe.file_type());
    if let Some(importance) = &options.importance {
        writer.set("quantize.imatrix.file", importance.file());
        writer.set("quantize.imatrix.entries_count", importance.len() as u32);
    }
    for (entry, dtype) in model.tensors().iter().zip(&types) {
        writer.tensor(&entry.name, *dtype, entry.extents())?;
    }
    let total = writer.tensor_bytes();
    let mut body = writer.begin(name, sink)?;
    let mut done = 0;
    for (entry, dtype) in model.tensors().iter().zip(types) {
        let importance = options.importance.as_ref().map_or(Ok(None), |all| all.of(entry))?;
        rows::each_batch(model, entry, dtype, importance, options.threads, &mut |bytes| {
            body.append(bytes)?;
            done += bytes.len() as u64;
            progress(Progress { done, total });
            Ok(())
        })?;
    }
    Ok(body.finish()?)
}

/// The new type of each tensor, everything that can be refused looked at.
fn planned(model: &Gguf, options: &QuantizeOptions) -> Result<Vec<DType>, QuantizeError> {
    let parts = Parts::of(model);
    model.tensors().iter().map(|entry| one(model, &parts, entry, options)).collect()
}

fn one(
    model: &Gguf,
    parts: &Parts,
    entry: &TensorEntry,
    options: &QuantizeOptions,
) -> Result<DType, QuantizeError> {
    if !parts::is_matrix(entry) {
        return Ok(entry.dtype);
    }
    let facts =
        Facts { grouped: parts.grouped, weighed: options.importance.is_some(), experts: entry.shape[2] > 1 };
    let wanted = options.recipe.of(parts.part(entry), facts);
    let dtype = recipe::fitting(wanted, entry.shape[0]);
    if dtype != wanted {
        tracing::warn!(
            tensor = entry.name,
            "rows of {} values are not whole {wanted} blocks: {dtype} is taken",
            entry.shape[0]
        );
    }
    let (file, tensor) = (model.file().to_owned(), entry.name.clone());
    if dtype == entry.dtype {
        return Ok(dtype);
    }
    if block_type(entry.dtype).is_none() {
        return Err(QuantizeError::Undecodable { file, tensor, dtype: entry.dtype });
    }
    if entry.dtype.is_quantised() && !options.allow_requantize {
        return Err(QuantizeError::Quantised { file, tensor, dtype: entry.dtype });
    }
    if let Some(importance) = &options.importance
        && importance.of(entry)?.is_none()
    {
        tracing::debug!(tensor = entry.name, "the importance matrix says nothing of it");
    }
    Ok(dtype)
}
