//! What claims cost beside their alternatives: bytes, launches, and the time that follows from a device's rates.

use super::{Binding, Cost, Placement, Plan};
use crate::contract::Port;
use crate::driver::Attempt;
use crate::graph::{Graph, NodeId, OpKind, Tensor, Use};
use crate::kernels;
use crate::rules::FUSED;
use std::collections::BTreeSet;
use std::fmt::{self, Display};

/// Bytes moved and launches made. Caches count whole, as in [`Cost`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Bytes read and written.
    pub bytes: u64,
    /// Dispatches.
    pub launches: u64,
}

/// What a device is taken to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Bytes moved in a second.
    pub bytes: f64,
    /// Seconds that a launch costs by itself.
    pub launch: f64,
}

impl Rates {
    /// Rates for estimates where nothing was measured: those of two processor threads for `cpu`, of an integrated GPU for all
    /// others. They are wrong by a constant factor on most devices; which of two ways is the cheaper seldom depends on it.
    pub fn nominal(backend: &str) -> Self {
        match backend {
            "cpu" => Rates { bytes: 20e9, launch: 1e-6 },
            _ => Rates { bytes: 200e9, launch: 5e-6 },
        }
    }
}

impl Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:.0} GB/s and {:.0} us a launch", self.bytes / 1e9, self.launch * 1e6)
    }
}

impl Price {
    /// Seconds by a device's rates: an estimate for work that waits for memory, as that of few tokens does.
    pub fn seconds(&self, rates: &Rates) -> f64 {
        self.bytes as f64 / rates.bytes + self.launches as f64 * rates.launch
    }

    /// The price and its time in words.
    pub(super) fn words(&self, rates: &Rates) -> String {
        let launches = if self.launches == 1 { "launch" } else { "launches" };
        let time = self.seconds(rates) * 1e6;
        format!("{} bytes in {} {launches}, about {time:.1} us", self.bytes, self.launches)
    }

    fn of(kernel: &str, tensor: impl Fn(&str) -> Option<Tensor>) -> Self {
        let ports = kernels::by_stem(kernel).map_or(&[][..], |kernel| kernel.contract.ports);
        let bind = |port: &Port| {
            tensor(port.name).map(|tensor| Binding { port: port.name, access: port.access, tensor })
        };
        let bindings: Vec<Option<Binding>> = ports.iter().map(bind).collect();
        Price { bytes: Cost::of(kernel, &bindings).bytes, launches: 1 }
    }

    fn sum(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Price::default(), |sum, one| Price {
            bytes: sum.bytes.saturating_add(one.bytes),
            launches: sum.launches + one.launches,
        })
    }

    /// Nodes each by the kernel of its operation. Views cost nothing.
    pub fn one_by_one(graph: &Graph, nodes: &[NodeId]) -> Self {
        let price = |node: &NodeId| {
            let it = graph.node(*node);
            let signature = it.op.kind().signature();
            let sources = signature.sources.iter().zip(&it.sources);
            let read = sources.filter(|(port, _)| port.usage == Use::Read).map(|(port, id)| (port.name, *id));
            let made = signature.results.iter().copied().zip(it.results.iter().map(|id| Some(*id)));
            let operands: Vec<_> = read.chain(made).collect();
            let at = |port: &str| operands.iter().find(|(name, _)| *name == port).and_then(|(_, id)| *id);
            Price::of(signature.stem, |port| at(port).map(|id| *graph.tensor(id)))
        };
        let computes = |node: &&NodeId| graph.node(**node).op.kind() != OpKind::View;
        Price::sum(nodes.iter().filter(computes).map(price))
    }

    /// The claim that a fused rule's attempt made; none where the rule itself declined.
    pub fn of_claim(attempt: &Attempt) -> Option<Self> {
        let rule = FUSED.iter().find(|rule| rule.name == attempt.rule && !attempt.covered.is_empty())?;
        let at =
            |port: &str| attempt.operands.iter().find(|(name, _)| *name == port).map(|(_, tensor)| *tensor);
        Some(Price::of(rule.kernel, at))
    }
}

impl Plan {
    /// A dispatch as it runs.
    pub fn price(&self, dispatch: usize) -> Price {
        Price { bytes: self.dispatches[dispatch].cost.bytes, launches: 1 }
    }

    /// The dispatches that compute nodes as the plan runs them.
    pub fn price_as_run(&self, nodes: &[NodeId]) -> Price {
        let dispatch = |node: &NodeId| match self.placements.get(node.index()) {
            Some(Placement::Dispatch(dispatch)) => Some(*dispatch),
            _ => None,
        };
        let all: BTreeSet<usize> = nodes.iter().filter_map(dispatch).collect();
        Price::sum(all.into_iter().map(|dispatch| self.price(dispatch)))
    }
}
