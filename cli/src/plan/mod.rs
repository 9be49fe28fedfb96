//! `weft plan`: how a model or a graph would be run, and why.

mod page;
pub mod source;
mod text;

use crate::args::{ModelArgs, SessionArgs};
use anyhow::{Context, bail};
use clap::Args;
use source::Source;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use weft_core::driver::{Offered, Options};
use weft_core::graph::Graph;
use weft_core::plan::{self, Comparison, MOST_BYTES, Plan, PlanError, PlanRecord};
use weft_core::rules::{FUSED, Rule};

/// Arguments of `weft plan`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  weft plan model.gguf\n  weft plan model.gguf --tokens 512 --explain l2_norm\n  \
    weft plan model.gguf --explain 17\n  weft plan model.gguf --explain blk.0.attn_q.weight\n  \
    weft plan model.gguf --json > a.json\n  weft plan model.gguf --disable gdn_layer --json > b.json\n  \
    weft plan --compare a.json b.json\n  weft plan model.gguf --graph-out graph.json\n  \
    weft plan --graph graph.json --backend wgpu"
)]
pub struct PlanArgs {
    /// GGUF file, as with -m.
    #[arg(value_name = "FILE", conflicts_with = "model")]
    file: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    session: SessionArgs,
    /// Plan the graph of this file, whose form docs/graphs.md describes, in place of a model's.
    #[arg(long, value_name = "GRAPH.json", conflicts_with_all = ["file", "model"])]
    graph: Option<PathBuf>,
    /// Write the graph to a file.
    #[arg(long, value_name = "GRAPH.json")]
    graph_out: Option<PathBuf>,
    /// Tokens of the ubatch; 1 is a decode step.
    #[arg(long, default_value_t = 1)]
    tokens: u64,
    /// Tell the story of nodes: an index; a label; an operation such as l2_norm; or a tensor, by the name of its weight,
    /// state, input or output, or as t17: then of the nodes that make or take it.
    #[arg(long, value_name = "NODE|TENSOR|OP")]
    explain: Option<String>,
    /// Switch a fusion rule off; * is all of them. May be repeated.
    #[arg(long, value_name = "RULE")]
    disable: Vec<String>,
    /// Print the plan with its trail as JSON, whose form docs/plans.md describes.
    #[arg(long)]
    json: bool,
    /// Print the plan for Graphviz.
    #[arg(long, conflicts_with = "json")]
    dot: bool,
    /// Write a page with the graph drawn by layer, for any browser; with --compare both plans side by side.
    #[arg(long, value_name = "PLAN.html")]
    html: Option<PathBuf>,
    /// Tell what differs between two plans that --json has written.
    #[arg(long, num_args = 2, value_names = ["A.json", "B.json"], conflicts_with_all = ["file", "model", "graph"])]
    compare: Option<Vec<PathBuf>>,
}

/// Runs the command.
pub fn run(args: &PlanArgs) -> anyhow::Result<()> {
    run_by(FUSED, args, &mut std::io::stdout().lock())
}

/// Runs the command with these fused rules.
pub fn run_by(rules: &[&'static Rule], args: &PlanArgs, out: &mut impl Write) -> anyhow::Result<()> {
    if let Some([before, after]) = args.compare.as_deref() {
        if let Some(path) = &args.html {
            return draw(path, &[record(before)?, record(after)?]);
        }
        write!(out, "{}", Comparison::of(&record(before)?, &record(after)?))?;
        return Ok(());
    }
    let source = Source::of(args)?;
    if let Some(path) = &args.graph_out {
        let name = path.display();
        std::fs::write(path, source.graph.to_json()).with_context(|| format!("writing {name}"))?;
    }
    let options = Options {
        exact: source.exact,
        disabled: args.disable.clone(),
        placement: source.placement.clone(),
        ..Options::default()
    };
    let offered: Vec<Offered<'_>> =
        source.backends.iter().map(|b| Offered { name: b.name(), offers: b.offers() }).collect();
    let build = |options: &Options| plan::build_with(Arc::clone(&source.graph), &offered, options, rules);
    let plan = match build(&options) {
        Ok(plan) => plan,
        Err(error) => {
            if let (Some(selector), PlanError::Uncovered(lost)) = (&args.explain, &error) {
                let wanted = plan::select(&source.graph, selector);
                for lost in lost.iter().filter(|lost| wanted.contains(&lost.node)) {
                    write!(out, "{}", plan::story(&source.graph, lost))?;
                }
            }
            return Err(error.into());
        }
    };
    if let Some(selector) = &args.explain {
        return explain(out, &plan, &source.graph, selector);
    }
    if let Some(path) = &args.html {
        draw(path, &[PlanRecord::from(&plan)])?;
    }
    if args.json {
        serde_json::to_writer(&mut *out, &PlanRecord::from(&plan))?;
        return Ok(writeln!(out)?);
    }
    if args.dot {
        return Ok(write!(out, "{}", plan.dot())?);
    }
    text::census(out, &plan)?;
    if let Some((model, batch)) = source.model.as_ref().filter(|_| !options.placement.is_empty()) {
        let free = build(&Options { placement: Vec::new(), ..options })?;
        text::experts(out, model, batch, [&plan, &free])?;
    }
    text::dispatches(out, &plan)
}

fn explain(out: &mut impl Write, plan: &Plan, graph: &Graph, selector: &str) -> anyhow::Result<()> {
    let nodes = plan::select(graph, selector);
    if nodes.is_empty() {
        bail!("--explain {selector}: no node of that index, label or operation, and no tensor of that name");
    }
    Ok(nodes.into_iter().try_for_each(|node| writeln!(out, "{}", plan.explain(node)))?)
}

/// Writes the page of one plan or two.
fn draw(path: &Path, plans: &[PlanRecord]) -> anyhow::Result<()> {
    let name = path.display();
    std::fs::write(path, page::of(plans)?).with_context(|| format!("writing {name}"))
}

/// The plan of a file.
fn record(path: &Path) -> anyhow::Result<PlanRecord> {
    let bytes = source::limited(path, MOST_BYTES)?;
    PlanRecord::from_json(&bytes).with_context(|| path.display().to_string())
}
