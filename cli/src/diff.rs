//! `weft diff`: two ways of running a model beside each other, and who is to blame where they part.

mod chart;
mod side;

use crate::replay::tensors::{Named, write};
use crate::report;
use anyhow::Context;
use clap::Args;
use side::SideSpec;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use weft::diff::{Blame, DiffOptions, Local, Report, diff};
use weft::tokenizer::EncodeOptions;
use weft_core::replay::Difference;

/// Arguments of `weft diff`.
#[derive(Args)]
#[command(
    after_help = "A side is a backend and words behind commas: exact (the default) or fast, unfused, no-repack, \
    disable=RULE, cache=TYPE, threads=N, experts-on=cpu.\n\nExamples:\n  \
    weft diff model.gguf --a cpu --b wgpu\n  \
    weft diff model.gguf --a wgpu --b wgpu,unfused --prompt \"Once upon a time\" --steps 8\n  \
    weft diff model.gguf --a hip --b hip,no-repack --bound 0 --save found"
)]
pub struct DiffArgs {
    /// GGUF file. Without it, the model inside this program.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The side that counts as right.
    #[arg(long, default_value = "cpu", value_name = "SIDE")]
    a: SideSpec,
    /// The other side.
    #[arg(long, value_name = "SIDE")]
    b: SideSpec,
    /// Text to process.
    #[arg(long, default_value = "Once upon a time there was a shy dragon", value_name = "TEXT")]
    prompt: String,
    /// Token ids to process in place of a text: 1,2,3.
    #[arg(long, value_delimiter = ',', value_name = "IDS", conflicts_with = "prompt")]
    tokens: Vec<u32>,
    /// Tokens to decode behind them, each the likeliest by side a.
    #[arg(long, default_value_t = 0, value_name = "N")]
    steps: u64,
    /// Most tokens of a prompt that are processed at once.
    #[arg(long, default_value_t = 64)]
    ubatch: u64,
    /// Largest squared error, relative to the squared values, of a tensor that counts as equal; 0 asks for equal bits.
    #[arg(long, default_value_t = 1e-6, value_name = "NMSE")]
    bound: f64,
    /// Compare everything, also behind the first difference, and list what is beyond the bound.
    #[arg(long)]
    all: bool,
    /// Write what is needed to repeat the first difference: FOLDER/graph.json and FOLDER/tensors.safetensors.
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    /// Draw the error of each tensor, layer by layer, as SVG.
    #[arg(long, value_name = "FILE.svg")]
    chart: Option<PathBuf>,
}

/// What the command fails with if something differs.
#[derive(Debug)]
pub struct Apart {
    a: String,
    b: String,
    tensors: u64,
}

impl std::fmt::Display for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} and {} differ; tensors beyond the bound: {}", self.a, self.b, self.tensors)
    }
}

impl std::error::Error for Apart {}

/// Runs the command. It fails if something differs.
pub fn run(args: &DiffArgs) -> anyhow::Result<()> {
    let (a, b) =
        (args.a.open(args.file.as_deref(), args.ubatch)?, args.b.open(args.file.as_deref(), args.ubatch)?);
    let ids = if args.tokens.is_empty() {
        a.model.tokenizer().encode(&args.prompt, EncodeOptions { add_special: true, parse_special: true })?
    } else {
        args.tokens.clone()
    };
    let options = DiffOptions { bound: args.bound, all: args.all, steps: args.steps };
    let bar = report::bar("comparing", ids.len() as u64 + args.steps);
    let found = diff([&a, &b], &ids, &options, |done, _| bar.set_position(done))?;
    bar.finish_and_clear();
    if let Some(path) = &args.chart {
        let title = format!("{}: {} beside {}", a.model.name(), args.b, args.a);
        chart::draw(path, &title, &found.compared, args.bound)
            .with_context(|| format!("drawing {}", path.display()))?;
    }
    print!("{}", text(&found, &options, args));
    if let (Some(blame), Some(folder)) = (&found.blame, &args.save) {
        save(blame, folder).with_context(|| format!("writing to {}", folder.display()))?;
        let place = folder.display();
        println!("to repeat it: weft replay {place}/graph.json --tensors {place}/tensors.safetensors");
    }
    if found.beyond > 0 {
        return Err(Apart { a: args.a.to_string(), b: args.b.to_string(), tensors: found.beyond }.into());
    }
    Ok(())
}

fn text(found: &Report, options: &DiffOptions, args: &DiffArgs) -> String {
    let mut out = String::new();
    let worst = found.compared.iter().max_by(|x, y| x.difference.nmse.total_cmp(&y.difference.nmse));
    let _ = writeln!(
        out,
        "{} tensors compared, {} more stay inside kernels; {} beyond {:e}",
        found.compared.len(),
        found.inside,
        found.beyond,
        args.bound
    );
    if let Some(worst) = worst.filter(|worst| !worst.difference.is_none()) {
        let _ = writeln!(out, "the furthest apart: {}: {}", worst.name, worst.difference);
    }
    if args.all {
        for one in found.compared.iter().filter(|one| options.is_beyond(&one.difference)) {
            let _ = writeln!(out, "  token {:>5}  {:<40} {}", one.position, one.name, one.difference);
        }
    }
    let Some(first) = found.first.map(|index| &found.compared[index]) else { return out };
    let _ = writeln!(
        out,
        "\nfirst difference: {}, result {}, {} {:?}, in the ubatch of {} tokens from {}",
        first.name, first.result, first.dtype, first.shape, first.tokens, first.position
    );
    let _ = writeln!(out, "  {}", first.difference);
    for ((name, index), kernel) in ["a", "b"].iter().zip(first.dispatches).zip(&first.kernels) {
        let _ = writeln!(out, "  {name}: dispatch {index}, {kernel}");
    }
    if let Some(blame) = &found.blame {
        told(&mut out, blame, args);
    }
    out
}

/// Whose fault it is, and what that rests on.
fn told(out: &mut String, blame: &Blame, args: &DiffArgs) {
    let _ = writeln!(out, "\nrun alone from a's operands, squared error against the reference kernels:");
    let _ = writeln!(out, "  {:<40} {:>10} {:>10} {:>10} {:>10}", "", "a", "b", "a unfused", "b unfused");
    let cell = |difference: &Option<Difference>| {
        difference.map_or_else(|| "inside".to_owned(), |d| format!("{:.1e}", d.nmse))
    };
    for Local { name, fused, unfused, .. } in &blame.local {
        let [a, b, c, d] = [&fused[0], &fused[1], &unfused[0], &unfused[1]].map(cell);
        let _ = writeln!(out, "  {name:<40} {a:>10} {b:>10} {c:>10} {d:>10}");
    }
    let _ = match &blame.culprit {
        None => writeln!(out, "both sides make the same of the same operands: what they were given differs"),
        Some(culprit) => {
            let side = [&args.a, &args.b][culprit.side];
            let how = if culprit.fused { "; its nodes one by one come out right" } else { "" };
            writeln!(out, "\nat fault: {side}: {} at {}{how}", culprit.kernel, culprit.name)
        }
    };
    for storage in blame.part.given() {
        let what = blame.part.graph.storage(storage.0);
        let _ = writeln!(out, "  operand {}: {}", what.name, report::bytes(what.bytes));
    }
}

/// Graph and operands of a difference: what `weft replay` runs.
fn save(blame: &Blame, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("graph.json"), blame.part.graph.to_json())?;
    let graph = &blame.part.graph;
    let tensors = blame.data.iter().map(|(name, bytes)| Named::storage(graph, name, name, bytes));
    write(&folder.join("tensors.safetensors"), tensors)
}
