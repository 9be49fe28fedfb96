//! `weft synth`: models of random weights.

use crate::report;
use anyhow::Context;
use clap::Args;
use std::path::PathBuf;
use weft::synth::{self, SynthSpec};

/// Arguments of `weft synth`.
#[derive(Args)]
#[command(after_help = "Examples:\n  weft synth --arch qwen35 --shape 0.8b --type Q4_K_M -o synth.gguf\n  \
    weft synth --arch llama --shape 135m --type Q8_0 --layers 4 -o small.gguf")]
pub struct SynthArgs {
    /// Architecture: qwen35, qwen35moe, qwen3next, qwen4exp, qwen3, qwen3moe, qwen2 or llama.
    #[arg(long, default_value = "qwen35")]
    arch: String,
    /// Size by name, such as tiny, 0.8b, 2b, 4b, 9b, 27b, 35b-a3b.
    #[arg(long, default_value = "tiny")]
    shape: String,
    /// Type of the matrices: F32, F16, BF16, Q8_0, Q4_0, …, or the mixture Q4_K_M.
    #[arg(long = "type", default_value = "Q8_0", value_name = "TYPE")]
    weights: String,
    /// Another number of layers.
    #[arg(long)]
    layers: Option<u32>,
    /// Another seed gives other weights; equal seeds give equal files.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The file to write.
    #[arg(short, long, value_name = "OUT.gguf")]
    output: PathBuf,
}

/// Runs the command.
pub fn run(args: &SynthArgs) -> anyhow::Result<()> {
    let mut spec = SynthSpec::named(&args.arch, &args.shape, &args.weights)?;
    spec.seed = args.seed;
    if let Some(layers) = args.layers {
        spec.shape.layers = layers;
    }
    let bar = report::bar("writing", 0);
    synth::write(&args.output, &spec, &mut |progress| {
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    })
    .with_context(|| format!("writing {}", args.output.display()))?;
    bar.finish_and_clear();
    Ok(())
}
