//! `weft plan`: how a model would be run, and why.

use crate::args::{ModelArgs, SessionArgs};
use crate::report;
use anyhow::bail;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use weft::Model;
use weft::models::{Batch, Rows};
use weft_core::driver::{Offered, Options};
use weft_core::graph::NodeId;
use weft_core::plan::{self, Plan};

/// Arguments of `weft plan`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  weft plan model.gguf\n  weft plan model.gguf --tokens 512 --explain l2_norm\n  \
    weft plan model.gguf --explain 17\n  weft plan model.gguf --json > plan.json"
)]
pub struct PlanArgs {
    /// GGUF file, as with -m.
    #[arg(value_name = "FILE", conflicts_with = "model")]
    file: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    session: SessionArgs,
    /// Tokens of the ubatch; 1 is a decode step.
    #[arg(long, default_value_t = 1)]
    tokens: u64,
    /// Tell the story of nodes: an index, a label, or an operation such as l2_norm.
    #[arg(long, value_name = "NODE")]
    explain: Option<String>,
    /// Switch a fusion rule off; * is all of them. May be repeated.
    #[arg(long, value_name = "RULE")]
    disable: Vec<String>,
    /// Print the plan with its trail as JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &PlanArgs) -> anyhow::Result<()> {
    let mut source = args.model.clone();
    source.model = args.file.clone().or(source.model);
    let model = source.open_with(|model| args.session.drafting(model))?;
    let options = args.session.options()?;
    let cells = if options.context == 0 { model.description().hyper().context } else { options.context };
    let rows = if args.tokens == 1 { Rows::All } else { Rows::Some(1) };
    let (tokens, cache) = (args.tokens, options.cache);
    let batch = Batch { tokens, rows, ..Batch::token(cells, cache) };
    let (graph, placement) = model.placed_graph(&batch)?;
    let graph = Arc::new(graph);
    let offered: Vec<Offered<'_>> =
        model.backends().iter().map(|b| Offered { name: b.name(), offers: b.offers() }).collect();
    let planning =
        Options { exact: options.exact, disabled: args.disable.clone(), placement, ..Options::default() };
    let plan = plan::build(Arc::clone(&graph), &offered, &planning)?;
    let mut out = std::io::stdout().lock();
    if let Some(selector) = &args.explain {
        let nodes = plan.select(selector);
        if nodes.is_empty() {
            bail!("--explain {selector}: no node of that index, label or operation");
        }
        for node in nodes {
            writeln!(out, "{}", plan.explain(node))?;
        }
        return Ok(());
    }
    if args.json {
        serde_json::to_writer_pretty(&mut out, &plan)?;
        writeln!(out)?;
        return Ok(());
    }
    census(&mut out, &plan)?;
    if !planning.placement.is_empty() {
        let free = plan::build(graph, &offered, &Options { placement: Vec::new(), ..planning })?;
        experts(&mut out, &model, &batch, [&plan, &free])?;
    }
    dispatches(&mut out, &plan)
}

fn census(out: &mut impl Write, plan: &Plan) -> anyhow::Result<()> {
    let census = plan.census();
    writeln!(out, "plan {}", census.hash)?;
    writeln!(
        out,
        "{} nodes ({} fused, {} views elided) in {} dispatches, {} phases, {} splits; {} nodes off the first device",
        census.nodes,
        census.fused,
        census.aliases,
        census.dispatches,
        census.phases,
        census.splits,
        census.off_device
    )?;
    for (device, bytes) in plan.devices.iter().zip(&census.arena_bytes) {
        writeln!(out, "{}: {} of activations", device.name, report::bytes(*bytes))?;
    }
    writeln!(
        out,
        "weights {}, state {}",
        report::bytes(census.weight_bytes),
        report::bytes(census.state_bytes)
    )?;
    for (rule, count) in &census.rules {
        writeln!(out, "  {count:>5} by rule {rule}")?;
    }
    for (kernel, count) in &census.kernels {
        writeln!(out, "  {count:>5} of {kernel}")?;
    }
    Ok(())
}

/// What experts on the CPU change: the plan with them, and the one without.
fn experts(
    out: &mut impl Write,
    model: &Model,
    batch: &Batch,
    [plan, free]: [&Plan; 2],
) -> anyhow::Result<()> {
    let (graph, mut parts) = model.description().graph_with_experts(batch)?;
    parts.retain(|part| model.experts_on().on_cpu(part.layer));
    let bytes = parts.iter().map(|part| part.weight_bytes(&graph)).sum();
    let splits = plan.splits.len().saturating_sub(free.splits.len());
    writeln!(
        out,
        "experts of {} layers on the CPU: {} there, {splits} splits more ({} per such layer), {} copied a run",
        parts.len(),
        report::bytes(bytes),
        splits.div_ceil(parts.len().max(1)),
        report::bytes(plan.census().copied_bytes)
    )?;
    Ok(())
}

fn dispatches(out: &mut impl Write, plan: &Plan) -> anyhow::Result<()> {
    writeln!(
        out,
        "\n{:>5} {:>5} {:<24} {:<18} {:>12} {:>12}  nodes",
        "index", "phase", "kernel", "rule", "bytes", "flops"
    )?;
    for (index, dispatch) in plan.dispatches.iter().enumerate() {
        let constants: Vec<String> =
            dispatch.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        writeln!(
            out,
            "{index:>5} {:>5} {:<24} {:<18} {:>12} {:>12}  {} {}",
            dispatch.phase,
            format!("{}/{}", dispatch.kernel, dispatch.variant),
            dispatch.rule,
            report::bytes(dispatch.cost.bytes),
            dispatch.cost.flops,
            ranges(&dispatch.nodes),
            constants.join(" ")
        )?;
    }
    Ok(())
}

/// Node indices as ranges: `7-9,13`.
fn ranges(nodes: &[NodeId]) -> String {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for node in nodes {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == node.0 => *last = node.0,
            _ => found.push((node.0, node.0)),
        }
    }
    let text =
        |(first, last): (u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    found.into_iter().map(text).collect::<Vec<_>>().join(",")
}
