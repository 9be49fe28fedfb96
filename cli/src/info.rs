//! `weft info`: what is in a file.

use crate::cache::CacheArgs;
use crate::report;
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use weft::gguf::{Gguf, Value, ValueKind};
use weft::models::{Batch, CacheTypes, Description};
use weft::session::{Speculation, speculation_bytes};
use weft_core::graph::{DType, Owner};

/// Arguments of `weft info`.
#[derive(Args)]
pub struct InfoArgs {
    /// GGUF file; of a split model any part.
    file: PathBuf,
    /// List every tensor.
    #[arg(long)]
    tensors: bool,
    #[command(flatten)]
    cache: CacheArgs,
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
    memory(&mut out, gguf, args.cache.types(DType::F16)?)
}

/// What contexts of several sizes need, or why the model cannot be run.
fn memory(out: &mut impl Write, gguf: std::sync::Arc<Gguf>, cache: CacheTypes) -> anyhow::Result<()> {
    let description = match Description::new(gguf) {
        Ok(description) => description,
        Err(error) => {
            writeln!(out, "\nweft cannot run this file: {error}")?;
            return Ok(());
        }
    };
    let most = description.hyper().context.max(1);
    let name = cache.to_string().to_lowercase();
    writeln!(out, "\nmemory ({name} cache), weights and state of one sequence")?;
    let mut sizes: Vec<u64> = (0..).map(|i| 2048u64 << (2 * i)).take_while(|c| *c < most).collect();
    sizes.push(most);
    for cells in sizes {
        let graph = description.graph(&Batch::token(cells, cache))?;
        let owned = |owner| graph.storages.iter().filter(|s| s.owner == owner).map(|s| s.bytes).sum::<u64>();
        let (weights, states) = (owned(Owner::Weight), owned(Owner::State));
        writeln!(
            out,
            "  context {cells:>7}: {} + {} = {}",
            report::bytes(weights),
            report::bytes(states),
            report::bytes(weights + states)
        )?;
    }
    if description.drafts()? {
        let speculation = Speculation::default();
        let more = speculation_bytes(&description, most, cache, &speculation)?;
        let (guesses, more) = (speculation.most, report::bytes(more));
        writeln!(out, "  --spec-type draft-mtp with guesses of {guesses} adds {more} at the last of them")?;
    }
    Ok(())
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
