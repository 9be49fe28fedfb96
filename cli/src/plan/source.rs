//! What is planned: the graph of a model, or one from a file.

use super::PlanArgs;
use crate::args::BackendArgs;
use crate::report;
use anyhow::Context;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use weft::models::{Batch, Rows};
use weft::{Model, backends};
use weft_core::backend::Backend;
use weft_core::graph::Graph;
use weft_core::graph::file::MOST_BYTES;

/// A graph with the devices to plan it for.
pub struct Source {
    /// The graph.
    pub graph: Arc<Graph>,
    /// Device of each node, where that is asked for.
    pub placement: Vec<Option<usize>>,
    /// Devices, the preferred first.
    pub backends: Vec<Arc<dyn Backend>>,
    /// Whether only exact kernels may run.
    pub exact: bool,
    /// The model and its ubatch, if the graph comes from one.
    pub model: Option<(Arc<Model>, Batch)>,
}

impl Source {
    /// As the arguments say.
    pub fn of(args: &PlanArgs) -> anyhow::Result<Self> {
        match &args.graph {
            Some(path) => Ok(Source {
                graph: Arc::new(graph(path)?),
                placement: Vec::new(),
                backends: open(&args.model.backend)?,
                exact: args.session.exact,
                model: None,
            }),
            None => Self::of_model(args),
        }
    }

    fn of_model(args: &PlanArgs) -> anyhow::Result<Self> {
        let mut source = args.model.clone();
        source.model = args.file.clone().or(source.model);
        let model = source.open_with(None, |model| args.session.drafting(model))?;
        let options = args.session.options()?;
        let cells = if options.context == 0 { model.description().hyper().context } else { options.context };
        let rows = if args.tokens == 1 { Rows::All } else { Rows::Some(1) };
        let (tokens, cache) = (args.tokens, options.cache);
        let batch = Batch { tokens, rows, ..Batch::token(cells, cache) };
        let (graph, placement) = model.placed_graph(&batch)?;
        let backends = model.backends().to_vec();
        let (graph, exact) = (Arc::new(graph), options.exact);
        Ok(Source { graph, placement, backends, exact, model: Some((model, batch)) })
    }
}

/// Devices by name, the preferred first.
pub fn open(args: &BackendArgs) -> anyhow::Result<Vec<Arc<dyn Backend>>> {
    Ok(backends::open(&args.backend, &args.options())?)
}

/// The graph of a file, copies that name their own result read as casts.
pub fn graph(path: &Path) -> anyhow::Result<Graph> {
    let name = path.display();
    let bytes = limited(path, MOST_BYTES)?;
    let mut graph = Graph::from_json(&bytes).with_context(|| name.to_string())?;
    let casts = graph.normalise();
    if let Some(first) = casts.first() {
        let first = graph.describe(*first);
        report::note(&format!(
            "{} copies name their own result and are read as casts: {first}, …",
            casts.len()
        ));
    }
    Ok(graph)
}

/// A file's bytes, one more than the limit at most: whoever parses them refuses those.
pub fn limited(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let name = path.display();
    let file = std::fs::File::open(path).with_context(|| format!("reading {name}"))?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).with_context(|| format!("reading {name}"))?;
    Ok(bytes)
}
