//! `weft info`: what is in a file.

use crate::memory::{self, MemoryArgs};
use crate::report;
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use weft::gguf::{Gguf, Value, ValueKind};
use weft_core::graph::DType;

/// Arguments of `weft info`.
#[derive(Args)]
pub struct InfoArgs {
    /// GGUF file; of a split model any part.
    file: PathBuf,
    #[command(flatten)]
    memory: MemoryArgs,
    /// List every tensor.
    #[arg(long)]
    tensors: bool,
}

/// Longest value that is shown whole.
const SHOWN: usize = 100;
/// Most elements of an array that are shown.
const SHOWN_ELEMENTS: u64 = 16;

/// Runs the command.
pub fn run(args: &InfoArgs) -> anyhow::Result<()> {
    let gguf = std::sync::Arc::new(Gguf::open(&args.file)?);
    let mut out = std::io::stdout().lock();
    for (file, bytes) in gguf.files() {
        writeln!(out, "{file}: {}", report::bytes(bytes))?;
    }
    writeln!(out, "\nmetadata")?;
    for (key, value) in gguf.metadata().iter() {
        writeln!(out, "  {key} = {}", shown(value))?;
    }
    let mut types: BTreeMap<DType, (usize, u64)> = BTreeMap::new();
    for tensor in gguf.tensors() {
        let entry = types.entry(tensor.dtype).or_default();
        entry.0 += 1;
        entry.1 += tensor.bytes;
    }
    let values: u64 = gguf.tensors().iter().map(|t| t.values()).sum();
    writeln!(out, "\ntensors: {}, {:.3} B values", gguf.tensors().len(), values as f64 / 1e9)?;
    for (dtype, (count, bytes)) in &types {
        writeln!(out, "  {count:>5} {dtype:<8} {}", report::bytes(*bytes))?;
    }
    if args.tensors {
        for tensor in gguf.tensors() {
            writeln!(out, "  {:<40} {:<6} {:?}", tensor.name, tensor.dtype.name(), tensor.extents())?;
        }
    }
    memory::tell(&mut out, gguf, &args.memory)
}

fn shown(value: &Value) -> String {
    if let Some(text) = value.as_str() {
        let short: String = text.chars().take(SHOWN).collect();
        let more =
            if short.len() < text.len() { format!("… ({} bytes)", text.len()) } else { String::new() };
        return format!("{:?}{more}", short);
    }
    match value {
        Value::Array(array) if array.len() > SHOWN_ELEMENTS || array.kind() == ValueKind::String => {
            format!("[{} × {:?}]", array.len(), array.kind())
        }
        Value::Array(array) => {
            let all: Vec<String> = array.scalars().map(|v| shown(&v)).collect();
            format!("[{}]", all.join(", "))
        }
        Value::Bool(value) => value.to_string(),
        // The shortest text that reads back as the same f32.
        Value::F32(value) => value.to_string(),
        other => match (other.as_integer(), other.as_float()) {
            (Some(number), _) => number.to_string(),
            (None, Some(number)) => number.to_string(),
            (None, None) => other.to_string(),
        },
    }
}
