//! `weft quantize`: the same model in fewer bits.

use crate::report;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use weft::gguf::Gguf;
use weft::quantize::{self, Importance, QuantizeOptions, Recipe};

/// Arguments of `weft quantize`.
#[derive(Args)]
#[command(after_help = "Examples:\n  weft quantize model-bf16.gguf model-q4.gguf Q4_K_M\n  \
    weft quantize --imatrix imatrix.gguf model-bf16.gguf model-q5.gguf Q5_K_S")]
pub struct QuantizeArgs {
    /// The model; of split files the first one.
    input: PathBuf,
    /// The file to write.
    output: PathBuf,
    /// A type such as Q8_0, or a mixture such as Q4_K_M.
    #[arg(value_name = "TYPE")]
    weights: String,
    /// An importance matrix (GGUF): errors count by how much each column is used.
    #[arg(long, value_name = "FILE")]
    imatrix: Option<PathBuf>,
    /// Give every matrix the same type, embedding and head included.
    #[arg(long)]
    pure: bool,
    /// Accept matrices that are quantised already: they lose once more.
    #[arg(long)]
    allow_requantize: bool,
    /// Threads that encode; 0 takes all.
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

/// Runs the command.
pub fn run(args: &QuantizeArgs) -> anyhow::Result<()> {
    let recipe = Recipe::from_name(&args.weights)?;
    let recipe = if args.pure { recipe.pure() } else { recipe };
    let importance = args.imatrix.as_ref().map(Importance::open).transpose()?;
    let model = Gguf::open(&args.input)?;
    let options = QuantizeOptions {
        importance,
        allow_requantize: args.allow_requantize,
        threads: args.threads,
        ..QuantizeOptions::new(recipe)
    };
    let bar = report::bar("quantising", 0);
    quantize::quantize(&model, &args.output, &options, &mut |progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    })
    .with_context(|| format!("writing {}", args.output.display()))?;
    bar.finish_and_clear();
    Ok(())
}
