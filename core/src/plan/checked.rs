//! The launches of a plan with others between them that look for values that are not finite. What the plan computes, and in
//! which order, stays; what they find comes back with the results.

use super::{Binding, Cost, Dispatch, Place, Plan};
use crate::contract::{Access, Constants};
use crate::driver::Offered;
use crate::graph::{DType, Graph, Layout, NodeId, Op, Owner, Storage, StorageId, Tensor, TensorId};
use std::collections::HashSet;
use std::sync::Arc;

/// A cache with more values is not looked through after each write to it: attention, which reads it, is.
const LARGEST_CACHE: u64 = 1 << 22;

/// What one launch looks at.
#[derive(Clone, Debug)]
struct Check {
    dispatch: usize,
    port: &'static str,
    /// Its words among the device's: one for each row.
    words: std::ops::Range<usize>,
}

/// A plan that also looks for values that are not finite.
pub struct Checked {
    /// What devices compile.
    pub plan: Plan,
    /// Per device the output that holds what was found.
    flags: Vec<StorageId>,
    checks: Vec<Vec<Check>>,
    /// For each dispatch the one that it is in the plan without checks; none for a check.
    origins: Vec<Option<usize>>,
}

/// Where a value that is not finite was first made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFinite {
    /// Index of the dispatch in the plan without checks.
    pub dispatch: usize,
    /// The port that it wrote.
    pub port: &'static str,
    /// Row of the tensor, counted over its outer dimensions.
    pub row: u64,
    /// Index in the row.
    pub index: u64,
}

impl Checked {
    /// Adds checks to a plan for devices with these kernels.
    pub fn of(plan: &Plan, devices: &[Offered<'_>]) -> Self {
        let masks = masks(&plan.graph);
        let caches: HashSet<StorageId> = plan
            .graph
            .node_ids()
            .filter(|node| plan.graph.keeps(*node))
            .flat_map(|node| plan.graph.writes(node).collect::<Vec<_>>())
            .map(|tensor| plan.graph.tensor(tensor).storage)
            .collect();
        let mut all = Building {
            graph: (*plan.graph).clone(),
            checks: vec![Vec::new(); devices.len()],
            words: vec![0; devices.len()],
        };
        let flags: Vec<StorageId> = (0..devices.len()).map(|device| all.flags(device)).collect();
        let mut dispatches: Vec<Dispatch> = Vec::with_capacity(2 * plan.dispatches.len());
        let mut starts = Vec::with_capacity(plan.dispatches.len() + 1);
        let mut waiting: Vec<Dispatch> = Vec::new();
        let mut phase = None;
        for (index, dispatch) in plan.dispatches.iter().enumerate() {
            if phase.replace(dispatch.phase).is_some_and(|last| last != dispatch.phase) {
                dispatches.append(&mut waiting);
            }
            starts.push(dispatches.len());
            dispatches.push(Dispatch { phase: 2 * dispatch.phase, ..dispatch.clone() });
            let device = dispatch.device;
            let masked = dispatch.nodes.iter().any(|node| masks.contains(node));
            for binding in dispatch.bindings.iter().flatten().filter(|b| b.access.writes()) {
                let tensor = binding.tensor;
                if caches.contains(&tensor.storage) && tensor.layout.elements() > LARGEST_CACHE {
                    continue;
                }
                waiting.extend(all.check(
                    &devices[device],
                    flags[device],
                    (index, dispatch),
                    binding,
                    masked,
                ));
            }
        }
        dispatches.append(&mut waiting);
        starts.push(dispatches.len());
        let mut checked = plan.clone();
        checked.dispatches = dispatches;
        for split in &mut checked.splits {
            // Checks of a split's last phase stand before the next one's first launch.
            (split.first, split.end) = (starts[split.first], starts[split.end]);
        }
        let mut origins = vec![None; checked.dispatches.len()];
        let kept = |index: &usize| checked.dispatches[*index].kernel != "finite";
        (0..origins.len()).filter(kept).enumerate().for_each(|(origin, index)| origins[index] = Some(origin));
        all.finish(&mut checked);
        Checked { plan: checked, flags, checks: all.checks, origins }
    }

    /// The dispatch of the plan without checks that a dispatch is; none if it is a check.
    pub fn origin(&self, dispatch: usize) -> Option<usize> {
        self.origins.get(dispatch).copied().flatten()
    }

    /// Per device the storage of what it found and its size in words; none where it looked at nothing.
    pub fn flags(&self) -> impl Iterator<Item = Option<(StorageId, u64)>> + '_ {
        let words = |flags: &StorageId| Some((*flags, self.plan.graph.storage(*flags).bytes / 4));
        self.flags.iter().map(move |flags| words(flags).filter(|(_, words)| *words > 0))
    }

    /// The first value that is not finite, in the order of launches. `words` holds per device what its output says.
    pub fn first(&self, words: &[Vec<i32>]) -> Option<NotFinite> {
        let found = self.checks.iter().zip(words).flat_map(|(checks, words)| {
            checks.iter().filter_map(|check| {
                let rows = words.get(check.words.clone())?;
                let row = rows.iter().position(|index| *index >= 0)?;
                let index = rows[row] as u64;
                Some(NotFinite { dispatch: check.dispatch, port: check.port, row: row as u64, index })
            })
        });
        found.min_by_key(|found| found.dispatch)
    }
}

struct Building {
    graph: Graph,
    checks: Vec<Vec<Check>>,
    words: Vec<u64>,
}

impl Building {
    fn flags(&mut self, device: usize) -> StorageId {
        let storage = Storage { name: format!("finite.{device}"), owner: Owner::Activation, bytes: 0 };
        self.graph.storages.push(storage);
        StorageId(self.graph.storages.len() as u32 - 1)
    }

    /// The launch that looks at what a port wrote, where the device has one that can.
    fn check(
        &mut self,
        device: &Offered<'_>,
        flags: StorageId,
        (index, dispatch): (usize, &Dispatch),
        binding: &Binding,
        masked: bool,
    ) -> Option<Dispatch> {
        let x = binding.tensor;
        let [_, rows @ ..] = x.layout.shape;
        let words = &mut self.words[dispatch.device];
        let mut layout = Layout::packed(DType::I32, [1, rows[0], rows[1], rows[2]])?;
        layout.offset = *words * 4;
        let out = Tensor { storage: flags, layout, version: 1 };
        let constants = Constants::new().integer("minus_infinity", u32::from(masked));
        let operands = [Some(x.layout), Some(layout)];
        let offer = device.offers.iter().find(|offer| {
            offer.contract.kernel == "finite" && offer.contract.check(&operands, &constants).is_ok()
        })?;
        let mut derived = constants.clone();
        offer.contract.derive(&operands, &mut derived).ok()?;
        let count = layout.elements();
        let first = *words as usize;
        *words += count;
        let words = first..first + count as usize;
        self.checks[dispatch.device].push(Check { dispatch: index, port: binding.port, words });
        let bindings = vec![
            Some(Binding { port: "x", access: Access::Read, tensor: x }),
            Some(Binding { port: "out", access: Access::Write, tensor: out }),
        ];
        Some(Dispatch {
            kernel: "finite",
            variant: offer.variant,
            rule: "checked",
            device: dispatch.device,
            nodes: Vec::new(),
            cost: Cost::of("finite", &bindings),
            bindings,
            constants: derived,
            phase: 2 * dispatch.phase + 1,
        })
    }

    /// Gives what devices find a place behind their activations, as an output.
    fn finish(&mut self, plan: &mut Plan) {
        let first = self.graph.storages.len() - self.words.len();
        for (device, words) in self.words.iter().enumerate() {
            plan.devices.iter_mut().for_each(|part| part.places.push(None));
            let layout = Layout::packed(DType::I32, [*words, 1, 1, 1]).filter(|_| *words > 0);
            let Some(layout) = layout else { continue };
            let storage = &mut self.graph.storages[first + device];
            storage.bytes = words * 4;
            let name = storage.name.clone();
            let part = &mut plan.devices[device];
            part.places[first + device] = Some(Place::Arena(part.arena_bytes));
            part.arena_bytes += layout.bytes().next_multiple_of(super::place::ALIGNMENT);
            self.graph.tensors.push(Tensor {
                storage: StorageId((first + device) as u32),
                layout,
                version: 1,
            });
            self.graph.outputs.push((name, TensorId(self.graph.tensors.len() as u32 - 1)));
            plan.output_devices.push(device);
        }
        plan.graph = Arc::new(std::mem::take(&mut self.graph));
    }
}

/// Nodes of which minus infinity is no fault: they make masks, or scores of what cannot be seen, or pass them on.
fn masks(graph: &Graph) -> HashSet<NodeId> {
    let given = graph.storages.iter().enumerate();
    let given = given.filter(|(_, storage)| storage.owner == Owner::Input && storage.name.contains("mask"));
    let mut hold: HashSet<StorageId> = given.map(|(index, _)| StorageId(index as u32)).collect();
    let mut nodes = HashSet::new();
    for node in graph.node_ids() {
        let op = &graph.node(node).op;
        let reads = graph.reads(node).any(|tensor| hold.contains(&graph.tensor(tensor).storage));
        let passes = match op {
            Op::Fill { value } => *value == f32::NEG_INFINITY,
            Op::BlockScores { .. } => true,
            Op::Copy | Op::Cast { .. } | Op::SetRows | Op::GetRows | Op::Repeat | Op::Concat { .. } => reads,
            Op::Binary { .. } | Op::Scale { .. } | Op::Tri { .. } => reads,
            _ => false,
        };
        if passes {
            nodes.insert(node);
            hold.extend(graph.writes(node).map(|tensor| graph.tensor(tensor).storage));
        }
    }
    nodes
}
