//! Which nodes of a graph compute experts, and where they do it.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use weft_core::graph::{Graph, NodeId, Owner};

/// Where the matrices of experts lie, and so where their products are computed. All else runs on the first device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpertsOn {
    /// Those of all layers on the first device.
    #[default]
    Gpu,
    /// Those of the first so many layers on the first device, all others on the CPU.
    GpuFirst(u64),
    /// Those of all layers on the CPU, a draft block's among them.
    Cpu,
    /// Those of the first so many layers on the CPU, all others on the first device.
    CpuFirst(u64),
}

impl ExpertsOn {
    /// Whether the experts of a layer stay on the CPU.
    pub fn on_cpu(self, layer: u64) -> bool {
        match self {
            ExpertsOn::Gpu => false,
            ExpertsOn::GpuFirst(layers) => layer >= layers,
            ExpertsOn::Cpu => true,
            ExpertsOn::CpuFirst(layers) => layer < layers,
        }
    }
}

impl FromStr for ExpertsOn {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const KNOWN: &str = "write cpu, gpu, or one of them with a number of layers: cpu:12";
        let (place, layers) = text.split_once(':').map_or((text, None), |(p, n)| (p, Some(n)));
        let layers = layers.map(|n| n.parse::<u64>().map_err(|_| KNOWN)).transpose()?;
        match (place, layers) {
            ("gpu", None) => Ok(ExpertsOn::Gpu),
            ("gpu", Some(layers)) => Ok(ExpertsOn::GpuFirst(layers)),
            ("cpu", None) => Ok(ExpertsOn::Cpu),
            ("cpu", Some(layers)) => Ok(ExpertsOn::CpuFirst(layers)),
            _ => Err(KNOWN),
        }
    }
}

impl fmt::Display for ExpertsOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExpertsOn::Gpu => f.write_str("gpu"),
            ExpertsOn::GpuFirst(layers) => write!(f, "gpu:{layers}"),
            ExpertsOn::Cpu => f.write_str("cpu"),
            ExpertsOn::CpuFirst(layers) => write!(f, "cpu:{layers}"),
        }
    }
}

/// The nodes of a graph that compute the experts of one layer: their products, and the weighted sum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpertNodes {
    /// The layer; a draft block is the one behind the trunk's.
    pub layer: u64,
    /// Indices of the nodes.
    pub nodes: Range<usize>,
}

impl ExpertNodes {
    /// Bytes of the matrices that they read.
    pub fn weight_bytes(&self, graph: &Graph) -> u64 {
        let mut read: Vec<_> = self
            .nodes
            .clone()
            .flat_map(|node| graph.reads(NodeId(node as u32)))
            .map(|tensor| graph.tensor(tensor).storage)
            .filter(|storage| graph.storage(*storage).owner == Owner::Weight)
            .collect();
        read.sort_unstable();
        read.dedup();
        read.into_iter().map(|storage| graph.storage(storage).bytes).sum()
    }
}
