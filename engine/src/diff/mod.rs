//! Two ways of running a model beside each other, tensor by tensor: two devices, fused and not, any two sets of options.

mod blame;

pub use blame::{Blame, Culprit, Local};

use crate::session::{Inspection, Session, SessionOptions};
use crate::{Error, Model};
use std::sync::Arc;
use weft_core::graph::{DType, Graph, NodeId, Op, Owner, TensorId};
use weft_core::plan::Plan;
use weft_core::replay::Difference;

/// One way of running a model.
#[derive(Clone)]
pub struct Side {
    /// The model on its devices.
    pub model: Arc<Model>,
    /// How its session works. [`diff`] sets what it needs: values are kept, nobody guesses ahead, the context holds the tokens,
    /// and both sides take the smaller ubatch.
    pub options: SessionOptions,
}

/// What to compare.
#[derive(Clone, Debug)]
pub struct DiffOptions {
    /// Largest normalised squared error ([`Difference::nmse`]) of a tensor that counts as equal; at 0 every bit counts.
    pub bound: f64,
    /// Go on behind the first tensor that differs.
    pub all: bool,
    /// Tokens to add behind the given ones, each the likeliest by the first side.
    pub steps: u64,
}

impl Default for DiffOptions {
    fn default() -> Self {
        DiffOptions { bound: 1e-6, all: false, steps: 0 }
    }
}

impl DiffOptions {
    /// Whether a tensor that differs so counts as another.
    pub fn is_beyond(&self, difference: &Difference) -> bool {
        difference.nmse > self.bound || self.bound == 0.0 && !difference.is_none()
    }
}

/// A tensor that both sides made.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Place of the first token of its ubatch.
    pub position: u64,
    /// Tokens of its ubatch.
    pub tokens: u64,
    /// The node that makes it.
    pub node: NodeId,
    /// The node in words.
    pub name: String,
    /// The layer that it belongs to: that of the last weight read so far.
    pub layer: Option<u64>,
    /// Which of the node's results.
    pub result: usize,
    /// Element type.
    pub dtype: DType,
    /// Extents, innermost first.
    pub shape: [u64; 4],
    /// What sets the second side's apart from the first's.
    pub difference: Difference,
    /// Index of the dispatch that writes it, on each side.
    pub dispatches: [usize; 2],
    /// That dispatch in words.
    pub kernels: [String; 2],
}

/// What a comparison found.
pub struct Report {
    /// All tensors that were compared, in the order of nodes.
    pub compared: Vec<Compared>,
    /// Results of nodes that one side at least keeps inside a fused kernel, or overwrites.
    pub inside: u64,
    /// Index in `compared` of the first tensor beyond the bound.
    pub first: Option<usize>,
    /// How many are beyond it.
    pub beyond: u64,
    /// Why the first one is.
    pub blame: Option<Blame>,
}

/// Processes tokens on both sides and compares what they make, ubatch by ubatch. `progress` gets tokens done and in all.
///
/// # Errors
/// As [`Session::prefill`]; [`Error::Unlike`] if the two sides do not compute the same operations.
pub fn diff(
    sides: [&Side; 2],
    ids: &[u32],
    options: &DiffOptions,
    mut progress: impl FnMut(u64, u64),
) -> Result<Report, Error> {
    let all = ids.len() as u64 + options.steps;
    let ubatch = sides[0].options.ubatch.min(sides[1].options.ubatch);
    let session = |side: &Side| {
        let own = side.options.clone();
        Session::new(
            &side.model,
            SessionOptions { keep_values: true, speculation: None, context: all, ubatch, ..own },
        )
    };
    let [mut a, mut b] = [session(sides[0])?, session(sides[1])?];
    let mut report = Report { compared: Vec::new(), inside: 0, first: None, beyond: 0, blame: None };
    let mut pieces: Vec<Vec<u32>> = ids.chunks(ubatch.max(1) as usize).rev().map(<[u32]>::to_vec).collect();
    while let Some(piece) = pieces.pop() {
        let position = a.tokens().len() as u64;
        let (mut a, mut b) = (a.inspect(&piece)?, b.inspect(&piece)?);
        compare(sides, [&mut a, &mut b], (position, piece.len() as u64), options, &mut report)?;
        let done = position + piece.len() as u64;
        progress(done, all);
        if report.first.is_some() && !options.all {
            break;
        }
        if pieces.is_empty() && done < all {
            pieces.push(vec![a.likeliest()?]);
        }
    }
    Ok(report)
}

fn compare(
    sides: [&Side; 2],
    [a, b]: [&mut Inspection<'_>; 2],
    (position, tokens): (u64, u64),
    options: &DiffOptions,
    report: &mut Report,
) -> Result<(), Error> {
    let plans = [a.plan(), b.plan()];
    let graphs = [&*plans[0].graph, &*plans[1].graph];
    alike(graphs)?;
    let mut layer = None;
    for node in graphs[0].node_ids() {
        layer = layer_of(graphs[0], node).or(layer);
        let tensors = [graphs[0].node(node), graphs[1].node(node)].map(|node| &node.results);
        if graphs[0].node(node).op == Op::View {
            continue;
        }
        for (result, (x, y)) in tensors[0].iter().zip(tensors[1]).enumerate() {
            let (left, right) = (graphs[0].tensor(*x), graphs[1].tensor(*y));
            let writers = plans[0].writer(left).zip(plans[1].writer(right));
            let Some(writers) = writers.filter(|_| left.dtype() == right.dtype()) else {
                report.inside += 1;
                continue;
            };
            let ((on_a, by_a), (on_b, by_b)) = writers;
            let (mine, other) = (a.tensor(on_a, *x)?, b.tensor(on_b, *y)?);
            let difference = Difference::of(left.dtype(), &other, &mine);
            report.compared.push(Compared {
                position,
                tokens,
                node,
                name: graphs[0].describe(node),
                layer,
                result,
                dtype: left.dtype(),
                shape: left.shape(),
                difference,
                dispatches: [by_a, by_b],
                kernels: [kernel(&plans[0], by_a), kernel(&plans[1], by_b)],
            });
            let is_beyond = options.is_beyond(&difference);
            if !is_beyond {
                continue;
            }
            report.beyond += 1;
            if report.first.is_none() {
                report.first = Some(report.compared.len() - 1);
                report.blame = Some(blame::blame(sides, a, &plans, [by_a, by_b])?);
            }
            if !options.all {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A dispatch in words.
fn kernel(plan: &Plan, dispatch: usize) -> String {
    let found = &plan.dispatches[dispatch];
    format!("{}/{} (rule {})", found.kernel, found.variant, found.rule)
}

fn alike(graphs: [&Graph; 2]) -> Result<(), Error> {
    let [a, b] = graphs.map(|graph| graph.nodes.len());
    let other = |node: &NodeId| graphs[0].node(*node).op.kind() != graphs[1].node(*node).op.kind();
    let node = if a == b { graphs[0].node_ids().find(other) } else { None };
    let name =
        |graph: &Graph| node.map_or_else(|| format!("{} nodes", graph.nodes.len()), |n| graph.describe(n));
    if a == b && node.is_none() {
        return Ok(());
    }
    Err(Error::Unlike { a: name(graphs[0]), b: name(graphs[1]) })
}

/// The layer of a node that reads one of its weights.
fn layer_of(graph: &Graph, node: NodeId) -> Option<u64> {
    let layer = |tensor: TensorId| {
        let storage = graph.storage(graph.tensor(tensor).storage);
        let rest = storage.name.strip_prefix("blk.").filter(|_| storage.owner == Owner::Weight)?;
        rest.split('.').next()?.parse().ok()
    };
    graph.reads(node).find_map(layer)
}
