//! `weft replay`: a graph run alone, and two runs compared.

pub mod tensors;

use crate::args::BackendArgs;
use crate::plan::source;
use crate::report;
use anyhow::bail;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use tensors::{Named, given, results, write};
use weft::Error;
use weft_core::contract::Tolerance;
use weft_core::driver::{Offered, Options};
use weft_core::graph::Graph;
use weft_core::kernels;
use weft_core::plan::{self, Plan};
use weft_core::replay::{self, Data, Difference, Loading, Outcome};

/// The name that stands for the reference kernels in place of a backend.
const REFERENCE: &str = "reference";

/// Arguments of `weft replay`.
#[derive(Args)]
#[command(
    after_help = "Weights, states and inputs are taken from --tensors by name; what is missing there is made from the seed, \
    indices and tables of segments as 0.\n\nExamples:\n  weft replay graph.json --backend wgpu --against cpu\n  \
    weft replay graph.json --against reference --exact\n  \
    weft replay graph.json --tensors in.safetensors -o out.safetensors\n  \
    weft replay graph.json --against auto --against-disable '*'"
)]
pub struct ReplayArgs {
    /// Graph file, whose form docs/graphs.md describes; `weft plan --graph-out` writes one.
    #[arg(value_name = "GRAPH.json")]
    graph: PathBuf,
    #[command(flatten)]
    backend: BackendArgs,
    /// Weights, states and inputs by name; of quantised types the bytes.
    #[arg(long, value_name = "IN.safetensors")]
    tensors: Option<PathBuf>,
    /// Seed of all data that --tensors does not hold.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Exact arithmetic: only kernels that compute in f32 or better.
    #[arg(long)]
    exact: bool,
    /// Switch a fusion rule off; * is all of them. May be repeated.
    #[arg(long, value_name = "RULE")]
    disable: Vec<String>,
    /// Run it a second time here and compare: a backend as in --backend, or reference, the reference kernels without fusion.
    #[arg(long, value_name = "NAME[:DEVICE]")]
    against: Option<String>,
    /// Rules that are off in the second run. May be repeated.
    #[arg(long, value_name = "RULE", requires = "against")]
    against_disable: Vec<String>,
    /// Write outputs and states after the run.
    #[arg(short, long, value_name = "OUT.safetensors")]
    output: Option<PathBuf>,
    /// Write weights, states and inputs before the run: with the graph, all that a run needs.
    #[arg(long, value_name = "IN.safetensors")]
    tensors_out: Option<PathBuf>,
    /// Refuse graphs whose run needs more than this.
    #[arg(long, default_value_t = 16, value_name = "GIB")]
    most_memory: u64,
}

/// Results that are further apart than the kernels' contracts allow.
#[derive(Debug)]
pub struct Apart {
    tensors: usize,
    of: usize,
}

impl std::fmt::Display for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Apart { tensors, of } = self;
        write!(f, "{tensors} of {of} tensors are further apart than the contracts of the kernels allow")
    }
}

impl std::error::Error for Apart {}

/// Runs the command.
pub fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    let graph = Arc::new(source::graph(&args.graph)?);
    let bytes = replay::memory(&graph);
    if bytes > args.most_memory.saturating_mul(1 << 30) {
        let (needs, most) = (report::bytes(bytes), args.most_memory);
        bail!("{}: a run needs {needs}, and --most-memory is {most} GiB", args.graph.display());
    }
    let mut data = match &args.tensors {
        Some(path) => given(&graph, path, bytes)?,
        None => Data::new(),
    };
    replay::fill(&graph, &mut data, args.seed).map_err(Error::from)?;
    if let Some(path) = &args.tensors_out {
        write(path, data.iter().map(|(name, bytes)| Named::storage(&graph, name, name, bytes)))?;
    }
    let mut out = std::io::stdout().lock();
    let first = replayed(&graph, &args.backend.backend, args, &args.disable, &data)?;
    told(&mut out, &args.backend.backend, &first.plan)?;
    if let Some(path) = &args.output {
        write(path, results(&graph, &first))?;
    }
    match &args.against {
        None => summary(&mut out, &graph, &first),
        Some(name) => {
            let second = replayed(&graph, name, args, &args.against_disable, &data)?;
            told(&mut out, name, &second.plan)?;
            compared(&mut out, &graph, &first, &second)
        }
    }
}

/// Runs the graph once.
fn replayed(
    graph: &Arc<Graph>,
    name: &str,
    args: &ReplayArgs,
    disabled: &[String],
    data: &Data,
) -> anyhow::Result<Outcome> {
    let options = Options { exact: args.exact, disabled: disabled.to_vec(), ..Options::default() };
    if name != REFERENCE {
        let backends = source::open(&BackendArgs { backend: name.to_owned(), ..args.backend.clone() })?;
        let loading = if args.backend.no_repack { Loading::Plain } else { Loading::Imported };
        return Ok(replay::run(graph, &backends, &options, data, loading).map_err(Error::from)?);
    }
    let backends = source::open(&BackendArgs { backend: "cpu".to_owned(), ..args.backend.clone() })?;
    let offered: Vec<Offered<'_>> =
        backends.iter().map(|b| Offered { name: b.name(), offers: b.offers() }).collect();
    let options = Options { exact: true, disabled: vec!["*".to_owned()], ..options };
    let plan = plan::build(Arc::clone(graph), &offered, &options)?;
    Ok(replay::interpreted(Arc::new(plan), data).map_err(Error::from)?)
}

/// Which plan ran, in a line, and what was given back on the way.
fn told(out: &mut impl Write, name: &str, plan: &Plan) -> anyhow::Result<()> {
    let census = plan.census();
    let (launches, splits) = (census.dispatches, census.splits);
    writeln!(out, "{name}: plan {}, {launches} launches, {splits} splits", census.hash)?;
    for failed in &plan.revoked {
        writeln!(out, "  {} gave back {:?}: {}", failed.device, failed.rule, failed.reason)?;
    }
    Ok(())
}

fn summary(out: &mut impl Write, graph: &Graph, run: &Outcome) -> anyhow::Result<()> {
    for Named { name, dtype, shape, bytes } in results(graph, run) {
        let told = Difference::of(dtype, bytes, &vec![0; bytes.len()]);
        let (values, wrong) = (told.values, told.not_finite);
        writeln!(
            out,
            "  {name}: {dtype} {shape:?}, {values} values, largest {:e}, {wrong} not finite",
            told.max_abs
        )?;
    }
    Ok(())
}

fn compared(out: &mut impl Write, graph: &Graph, first: &Outcome, second: &Outcome) -> anyhow::Result<()> {
    let allowed = [first, second].map(|run| allowed(&run.plan));
    let (nmse, max_abs) =
        (allowed[0].nmse_row + allowed[1].nmse_row, allowed[0].max_abs + allowed[1].max_abs);
    let (mut apart, mut count) = (0, 0);
    for (Named { name, dtype, shape, bytes }, want) in results(graph, first).zip(results(graph, second)) {
        let told = Difference::of(dtype, bytes, want.bytes);
        let relative = told.max_abs / told.largest.max(1e-30);
        // As contracts say it: one of both bounds is enough, and next to nothing is nothing.
        let near = told.is_none() || told.nmse <= nmse || relative <= max_abs || told.max_abs <= 1e-7;
        count += 1;
        apart += usize::from(!near);
        writeln!(out, "  {} {name}: {dtype} {shape:?}: {told}", if near { "same" } else { "APART" })?;
    }
    writeln!(
        out,
        "allowed by contracts: NMSE {nmse:.1e}, or largest error {max_abs:.1e} of the largest value"
    )?;
    if apart > 0 {
        return Err(Apart { tensors: apart, of: count }.into());
    }
    Ok(())
}

/// What the contracts of a plan's kernels allow at most: errors of a chain add up.
fn allowed(plan: &Plan) -> Tolerance {
    let kernels = plan.dispatches.iter().filter_map(|dispatch| kernels::by_stem(dispatch.kernel));
    kernels.fold(Tolerance::EXACT, |sum, kernel| Tolerance {
        nmse_row: sum.nmse_row + kernel.contract.tolerance.nmse_row,
        max_abs: sum.max_abs + kernel.contract.tolerance.max_abs,
    })
}
