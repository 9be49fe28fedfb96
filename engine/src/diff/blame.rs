//! Who made a difference: the launches around it, run alone from one side's operands on both sides and by the reference kernels.

use super::Side;
use crate::Error;
use crate::session::Inspection;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weft_core::driver::{Offered, Options};
use weft_core::graph::{Graph, GraphError, NodeId, Part, StorageId, TensorId};
use weft_core::kernels;
use weft_core::plan::{self, Plan, PlanError};
use weft_core::replay::{self, Data, Difference, Loading, Outcome};
use weft_core::run::RunError;

/// The launches that made a difference, by themselves.
pub struct Blame {
    /// Their nodes, cut out of the graph.
    pub part: Part,
    /// What the first side gave them: with `part` a run that can be repeated.
    pub data: Data,
    /// Every result of theirs, against the reference kernels.
    pub local: Vec<Local>,
    /// Who is at fault; nobody if both sides make the same of the same operands.
    pub culprit: Option<Culprit>,
}

/// A result of launches that ran alone, as it differs from the reference kernels'.
#[derive(Clone, Debug)]
pub struct Local {
    /// The node, in the whole graph.
    pub node: NodeId,
    /// The node in words.
    pub name: String,
    /// Per side as it was planned; none where the result stays inside a kernel.
    pub fused: [Option<Difference>; 2],
    /// Per side with one launch a node.
    pub unfused: [Option<Difference>; 2],
    /// Launches that made these, in words, as planned and node by node.
    pub kernels: [[String; 2]; 2],
    /// Whether the two sides differ from each other, as planned.
    pub apart: bool,
}

/// At fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// Index of the side.
    pub side: usize,
    /// The first node that comes out wrong.
    pub node: NodeId,
    /// Its name.
    pub name: String,
    /// The kernel that computes it.
    pub kernel: String,
    /// Whether that kernel covers several nodes, which come out right one by one.
    pub fused: bool,
}

pub(super) fn blame(
    sides: [&Side; 2],
    first: &mut Inspection<'_>,
    plans: &[Arc<Plan>; 2],
    dispatches: [usize; 2],
) -> Result<Blame, Error> {
    let graph = &plans[0].graph;
    let nodes: BTreeSet<NodeId> =
        (0..2).flat_map(|side| plans[side].dispatches[dispatches[side]].nodes.iter().copied()).collect();
    let nodes: Vec<NodeId> = nodes.into_iter().collect();
    let outputs: Vec<TensorId> = nodes
        .iter()
        .flat_map(|node| graph.writes(*node).enumerate().map(move |(at, tensor)| (*node, at, tensor)))
        .filter(|(node, at, tensor)| {
            let other = plans[1].graph.node(*node).results[*at];
            plans[0].writer(graph.tensor(*tensor)).is_some()
                && plans[1].writer(plans[1].graph.tensor(other)).is_some()
        })
        .map(|(_, _, tensor)| tensor)
        .collect();
    let refused = |error: GraphError| Error::Run(RunError::Plan(PlanError::Graph(error)));
    let part = graph.part(&nodes, &outputs).map_err(refused)?;
    // One by one nothing is inside a kernel: each value can be had that nothing writes over.
    let every = graph.part(&nodes, &lasting(graph, &nodes)).map_err(refused)?;
    let data = operands(first, &plans[0], &part, &nodes)?;
    let run = |part: &Part, side: &Side, disabled: &[String]| {
        let options =
            Options { exact: side.options.exact, disabled: disabled.to_vec(), ..Options::default() };
        replay::run(&Arc::new(part.graph.clone()), side.model.backends(), &options, &data, Loading::Imported)
    };
    let one_by_one = ["*".to_owned()];
    let planned = |side: &Side| run(&part, side, &side.options.disabled_rules);
    let fused = [planned(sides[0])?, planned(sides[1])?];
    let unfused = [run(&every, sides[0], &one_by_one)?, run(&every, sides[1], &one_by_one)?];
    let reference = reference(&every, &data)?;
    let local = locals(graph, (&part, &fused), (&every, &unfused), &reference);
    let culprit = culprit(&local);
    Ok(Blame { part, data, local, culprit })
}

/// Results of nodes that none of them writes over.
fn lasting(graph: &Graph, nodes: &[NodeId]) -> Vec<TensorId> {
    let results = || nodes.iter().flat_map(|node| graph.writes(*node));
    let over = |tensor: TensorId| {
        let tensor = graph.tensor(tensor);
        results().map(|other| graph.tensor(other)).any(|other| {
            other.storage == tensor.storage
                && other.version > tensor.version
                && other.layout.overlaps(&tensor.layout)
        })
    };
    results().filter(|tensor| !over(*tensor)).collect()
}

/// Runs a part by the reference kernels, node by node.
fn reference(part: &Part, data: &Data) -> Result<Outcome, Error> {
    let offers = kernels::references();
    let options = Options { exact: true, disabled: vec!["*".to_owned()], ..Options::default() };
    let offered = [Offered { name: "reference", offers: &offers }];
    let plan = plan::build(Arc::new(part.graph.clone()), &offered, &options).map_err(RunError::Plan)?;
    Ok(replay::interpreted(Arc::new(plan), data)?)
}

/// What the part's storages held when its launches were about to read them.
fn operands(side: &mut Inspection<'_>, plan: &Plan, part: &Part, nodes: &[NodeId]) -> Result<Data, Error> {
    let inside: Vec<usize> = (0..plan.dispatches.len())
        .filter(|index| plan.dispatches[*index].nodes.iter().any(|node| nodes.contains(node)))
        .collect();
    let touching = |storage: StorageId, writes: bool| {
        let touches = move |index: &usize| {
            let mut bindings = plan.dispatches[*index].bindings.iter().flatten();
            bindings.any(|b| b.tensor.storage == storage && (!writes || b.access.writes()))
        };
        inside.iter().copied().filter(touches)
    };
    // Before the first of its own launches writes there; where none does, once everybody else has.
    let mut cuts: BTreeMap<usize, Vec<(StorageId, StorageId)>> = BTreeMap::new();
    for (new, old) in part.given() {
        let cut = touching(old, true).min().or_else(|| touching(old, false).max()).unwrap_or(0);
        cuts.entry(cut).or_default().push((new, old));
    }
    let mut data = Data::new();
    for (cut, storages) in cuts {
        let old: Vec<StorageId> = storages.iter().map(|(_, old)| *old).collect();
        let mut held = side.before(cut, &old)?;
        for (new, old) in storages {
            let given = held.remove(&old).unwrap_or_default();
            data.insert(part.graph.storage(new).name.clone(), given);
        }
    }
    Ok(data)
}

fn locals(
    whole: &Graph,
    (part, fused): (&Part, &[Outcome; 2]),
    (every, unfused): (&Part, &[Outcome; 2]),
    reference: &Outcome,
) -> Vec<Local> {
    let of = |part: &Part, outcome: &Outcome, tensor: TensorId| {
        let new = part.tensor(tensor)?;
        let (name, _) = part.graph.outputs.iter().find(|(_, output)| *output == new)?;
        let writer = outcome.plan.writer(part.graph.tensor(new));
        let kernel = writer.map_or_else(String::new, |(_, by)| super::kernel(&outcome.plan, by));
        Some(Made { bytes: outcome.outputs.get(name)?.clone(), kernel })
    };
    let kernel = |made: &Option<Made>| made.as_ref().map_or_else(String::new, |made| made.kernel.clone());
    let mut all = Vec::new();
    for (node, tensor) in every.nodes.iter().flat_map(|node| whole.writes(*node).map(move |t| (*node, t))) {
        let dtype = whole.tensor(tensor).dtype();
        let Some(right) = of(every, reference, tensor) else { continue };
        let off =
            |made: &Option<Made>| made.as_ref().map(|made| Difference::of(dtype, &made.bytes, &right.bytes));
        let fused = fused.each_ref().map(|outcome| of(part, outcome, tensor));
        let unfused = unfused.each_ref().map(|outcome| of(every, outcome, tensor));
        all.push(Local {
            node,
            name: whole.describe(node),
            fused: fused.each_ref().map(off),
            unfused: unfused.each_ref().map(off),
            kernels: [fused.each_ref().map(kernel), unfused.each_ref().map(kernel)],
            apart: matches!(&fused, [Some(a), Some(b)] if a.bytes != b.bytes),
        });
    }
    all
}

/// A tensor and the kernel that made it.
struct Made {
    bytes: Vec<u8>,
    kernel: String,
}

/// The side that is further from the reference, and there the first node that is wrong by itself, else the fused kernel.
fn culprit(local: &[Local]) -> Option<Culprit> {
    let nmse = |difference: &Option<Difference>| difference.map_or(0.0, |d| d.nmse);
    let first = local.iter().find(|local| local.apart)?;
    let [a, b] = first.fused.each_ref().map(nmse);
    let side = usize::from(b > a);
    let (worse, better) = (a.max(b), a.min(b));
    // By itself a node is wrong if it is about as far off as the whole, or far beyond what rounding makes of it elsewhere.
    let wrong = |local: &&Local| {
        let [mine, other] = [nmse(&local.unfused[side]), nmse(&local.unfused[1 - side])];
        mine > 0.0 && mine > 10.0 * other && mine >= 0.01 * (worse - better)
    };
    let single = local.iter().find(wrong);
    let found = single.unwrap_or(first);
    Some(Culprit {
        side,
        node: found.node,
        name: found.name.clone(),
        kernel: found.kernels[usize::from(single.is_some())][side].clone(),
        fused: single.is_none(),
    })
}
