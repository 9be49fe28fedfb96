//! Plans as pictures: the DOT language of Graphviz.

use super::{Placement, Plan, PlanRecord};
use crate::graph::NodeId;
use std::fmt::Write;

impl Plan {
    /// A directed graph of the nodes that compute, those of one dispatch in one frame, coloured by kernel.
    pub fn dot(&self) -> String {
        let mut text =
            String::from("digraph plan {\n  rankdir=TB;\n  node [shape=box, style=filled, fontsize=10];\n");
        for (index, dispatch) in self.dispatches.iter().enumerate() {
            let colour = colour(dispatch.kernel);
            let device = &self.devices[dispatch.device].name;
            let _ = writeln!(text, "  subgraph cluster_{index} {{");
            let title = format!(
                "{index}: {}/{} on {device}, phase {}",
                dispatch.kernel, dispatch.variant, dispatch.phase
            );
            let _ = writeln!(text, "    label=\"{}\"; color=\"{colour}\"; fontsize=9;", escaped(&title));
            for node in &dispatch.nodes {
                let label = escaped(&self.graph.describe(*node));
                let _ = writeln!(text, "    n{} [label=\"{label}\", fillcolor=\"{colour}\"];", node.0);
            }
            text.push_str("  }\n");
        }
        for [from, to] in PlanRecord::from(self).edges {
            let computes =
                |id: u32| matches!(self.placements.get(NodeId(id).index()), Some(Placement::Dispatch(_)));
            if computes(from) && computes(to) {
                let _ = writeln!(text, "  n{from} -> n{to};");
            }
        }
        text.push_str("}\n");
        text
    }
}

/// A pale colour that a kernel always has, as hue, saturation and value.
fn colour(kernel: &str) -> String {
    let hash = kernel.bytes().fold(17u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("{:.3} 0.300 0.950", f64::from(hash % 997) / 997.0)
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
