//! Who made a difference: the launches around it, run alone from one side's operands on both sides and by the reference kernels.

use super::Side;
use crate::Error;
use crate::session::Inspection;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weft_core::alone::{self, Bytes, Left};
use weft_core::difference::Difference;
use weft_core::driver::Options;
use weft_core::graph::{Graph, NodeId, Op, Part, StorageId, TensorId};
use weft_core::plan::Plan;

/// The launches that made a difference, by themselves.
pub struct Blame {
    /// Their nodes, cut out of the graph.
    pub part: Part,
    /// What the first side gave them: with `part` a run that can be repeated.
    pub bytes: Bytes,
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
    let part = graph
        .part(&nodes, &outputs)
        .map_err(|error| Error::Run(weft_core::plan::PlanError::from(error).into()))?;
    let bytes = operands(first, &plans[0], &part, &nodes)?;
    let alone = Arc::new(part.graph.clone());
    let run = |side: &Side, disabled: &[String]| {
        let options = Options {
            exact: side.options.exact,
            disabled: disabled.to_vec(),
            keep_values: true,
            ..Options::default()
        };
        alone::on(side.model.backends(), &alone, &bytes, &options)
    };
    let one_by_one = ["*".to_owned()];
    let fused =
        [run(sides[0], &sides[0].options.disabled_rules)?, run(sides[1], &sides[1].options.disabled_rules)?];
    let unfused = [run(sides[0], &one_by_one)?, run(sides[1], &one_by_one)?];
    let reference = alone::by_reference(&alone, &bytes)?;
    let local = locals(&part, graph, &reference, &fused, &unfused)?;
    let culprit = culprit(&local);
    Ok(Blame { part, bytes, local, culprit })
}

/// What the part's storages held when its launches were about to read them.
fn operands(side: &mut Inspection<'_>, plan: &Plan, part: &Part, nodes: &[NodeId]) -> Result<Bytes, Error> {
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
    let mut bytes = Bytes::new();
    for (cut, storages) in cuts {
        let old: Vec<StorageId> = storages.iter().map(|(_, old)| *old).collect();
        let mut held = side.before(cut, &old)?;
        for (new, old) in storages {
            let given = held.remove(&old).unwrap_or_default();
            bytes.insert(part.graph.storage(new).name.clone(), Arc::new(given));
        }
    }
    Ok(bytes)
}

fn locals(
    part: &Part,
    whole: &Graph,
    reference: &Left,
    fused: &[Left; 2],
    unfused: &[Left; 2],
) -> Result<Vec<Local>, Error> {
    let mut all = Vec::new();
    for (index, node) in part.graph.nodes.iter().enumerate().filter(|(_, node)| node.op != Op::View) {
        for result in &node.results {
            let dtype = part.graph.tensor(*result).dtype();
            let Some(right) = reference.tensors.get(result) else { continue };
            let off = |left: &Left| {
                let got = left.tensors.get(result);
                got.map(|got| Difference::between(dtype, right, got)).transpose().map_err(Error::Unreadable)
            };
            let by = |left: &Left| {
                let writer = left.plan.writer(part.graph.tensor(*result));
                writer.map_or_else(String::new, |(_, index)| super::kernel(&left.plan, index))
            };
            let values = fused.each_ref().map(|left| left.tensors.get(result));
            all.push(Local {
                node: part.nodes[index],
                name: whole.describe(part.nodes[index]),
                fused: [off(&fused[0])?, off(&fused[1])?],
                unfused: [off(&unfused[0])?, off(&unfused[1])?],
                kernels: [fused.each_ref().map(by), unfused.each_ref().map(by)],
                apart: values[0].is_some() && values[1].is_some() && values[0] != values[1],
            });
        }
    }
    Ok(all)
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
