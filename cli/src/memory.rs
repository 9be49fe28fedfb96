//! What a model's contexts need of memory, before anything is loaded.

use crate::args::ExpertArgs;
use crate::cache::CacheArgs;
use crate::report;
use clap::Args;
use std::io::Write;
use std::sync::Arc;
use weft::backends;
use weft::gguf::Gguf;
use weft::models::{Batch, CacheTypes, Description, Rows};
use weft::session::{Speculation, speculation_bytes};
use weft_core::driver::{Offered, Options};
use weft_core::graph::{DType, Graph, Owner};
use weft_core::plan;

/// Which contexts, and where experts lie.
#[derive(Args)]
pub struct MemoryArgs {
    #[command(flatten)]
    experts: ExpertArgs,
    #[command(flatten)]
    cache: CacheArgs,
    /// Tell what a context of so many tokens needs, part by part; 0 tells of several sizes.
    #[arg(short, long, visible_alias = "context", default_value_t = 0)]
    ctx: u64,
    /// Most tokens of a prompt that are processed at once.
    #[arg(long, visible_alias = "ub", default_value_t = 512)]
    ubatch: u64,
}

/// Tells it, or why the model cannot be run.
pub fn tell(out: &mut impl Write, gguf: Arc<Gguf>, args: &MemoryArgs) -> anyhow::Result<()> {
    let opened = Description::new(gguf).and_then(|model| {
        model.graph(&Batch::token(1, DType::F16.into()))?;
        Ok(model)
    });
    let description = match opened {
        Ok(description) => description,
        Err(error) => {
            writeln!(out, "\nweft cannot run this file: {error}")?;
            return Ok(());
        }
    };
    let cache = args.cache.types(DType::F16)?;
    let speculation = Speculation::default();
    if args.ctx > 0 {
        return parts(out, &description, args, cache, &speculation);
    }
    let most = description.hyper().context.max(1);
    let name = cache.to_string().to_lowercase();
    writeln!(out, "\nmemory ({name} cache), weights and state of one sequence")?;
    let mut sizes: Vec<u64> = (0..).map(|i| 2048u64 << (2 * i)).take_while(|c| *c < most).collect();
    sizes.push(most);
    let host = on_host(&description, args)?;
    let there =
        if host > 0 { format!(", {} of them on the host", report::bytes(host)) } else { String::new() };
    for cells in sizes {
        let graph = description.graph(&Batch::token(cells, cache))?;
        let (weights, states) = (owned(&graph, Owner::Weight), owned(&graph, Owner::State));
        writeln!(
            out,
            "  context {cells:>7}: {} + {} = {}{there}",
            report::bytes(weights),
            report::bytes(states),
            report::bytes(weights + states)
        )?;
    }
    if description.drafts()? {
        let more = speculation_bytes(&description, most, cache, &speculation)?;
        let (guesses, more) = (speculation.most, report::bytes(more));
        writeln!(out, "  --spec-type draft-mtp with guesses of {guesses} adds {more} at the last of them")?;
    }
    Ok(())
}

/// One context, part by part.
fn parts(
    out: &mut impl Write,
    description: &Description,
    args: &MemoryArgs,
    cache: CacheTypes,
    speculation: &Speculation,
) -> anyhow::Result<()> {
    let (cells, tokens) = (args.ctx, args.ubatch);
    let graph = description.graph(&Batch::token(cells, cache))?;
    let weights = owned(&graph, Owner::Weight);
    let states = owned(&graph, Owner::State);
    // What does not grow with the context is recurrent.
    let recurrent: u64 = {
        let other = description.graph(&Batch::token(cells + 1, cache))?;
        let same = graph.storages.iter().zip(&other.storages).filter(|(a, b)| a.bytes == b.bytes);
        same.filter(|(a, _)| a.owner == Owner::State).map(|(a, _)| a.bytes).sum()
    };
    let host = on_host(description, args)?;
    let mut rows = vec![("weights".to_owned(), weights - host)];
    if host > 0 {
        rows.push((format!("experts on the host (--experts-on {})", args.experts.experts_on()), host));
    }
    rows.push((format!("KV cache ({})", cache.to_string().to_lowercase()), states - recurrent));
    rows.push(("recurrent state".to_owned(), recurrent));
    rows.push((
        format!("compute, {tokens} tokens at once, as on the CPU"),
        compute(description, cells, cache, tokens)?,
    ));
    if description.drafts()? {
        let more = speculation_bytes(description, cells, cache, speculation)?;
        rows.push((format!("speculation, draft-mtp with guesses of {}", speculation.most), more));
    }
    let all = rows.iter().map(|(_, bytes)| bytes).sum();
    rows.push(("in all".to_owned(), all));
    writeln!(out, "\nmemory of one sequence with a context of {cells} tokens")?;
    for (what, bytes) in rows {
        writeln!(out, "  {what:<50} {:>10}", report::bytes(bytes))?;
    }
    let trained = description.hyper().context;
    if cells > trained {
        writeln!(out, "  the model was made for {trained} tokens")?;
    }
    Ok(())
}

/// Bytes of the experts that stay on the host.
fn on_host(description: &Description, args: &MemoryArgs) -> anyhow::Result<u64> {
    let (graph, parts) = description.graph_with_experts(&Batch::token(1, DType::F16.into()))?;
    let there = parts.iter().filter(|part| args.experts.experts_on().on_cpu(part.layer));
    Ok(there.map(|part| part.weight_bytes(&graph)).sum())
}

/// Activations and inputs of the largest ubatch.
fn compute(description: &Description, cells: u64, cache: CacheTypes, tokens: u64) -> anyhow::Result<u64> {
    let rows = if tokens == 1 { Rows::All } else { Rows::Some(1) };
    let graph = description.graph(&Batch { tokens, rows, ..Batch::token(cells, cache) })?;
    let cpu = backends::open("cpu", &Default::default())?;
    let offered: Vec<_> = cpu.iter().map(|b| Offered { name: b.name(), offers: b.offers() }).collect();
    let plan = plan::build(Arc::new(graph), &offered, &Options::default())?;
    Ok(plan.devices.iter().map(|device| device.arena_bytes + device.input_bytes).sum())
}

fn owned(graph: &Graph, owner: Owner) -> u64 {
    graph.storages.iter().filter(|s| s.owner == owner).map(|s| s.bytes).sum()
}
