//! What a rule proposes.

use crate::contract::Constants;
use crate::graph::{NodeId, Tensor};

/// A rule's proposal: these nodes become one dispatch of this kernel with these operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The rule.
    pub rule: &'static str,
    /// The kernel's stem.
    pub kernel: &'static str,
    /// Covered nodes.
    pub nodes: Vec<NodeId>,
    /// Tensors by port. A tensor may be the graph's own or one with the same bytes under another shape.
    pub operands: Vec<(&'static str, Tensor)>,
    /// Constants from attributes.
    pub constants: Constants,
}

impl Claim {
    /// Covering these nodes too.
    pub fn covering(mut self, nodes: &[NodeId]) -> Self {
        self.nodes.extend(nodes);
        self.nodes.sort();
        // One node may be two links: a norm that serves as query and as key.
        self.nodes.dedup();
        self
    }

    /// With a tensor at a port.
    pub fn operand(mut self, port: &'static str, tensor: Tensor) -> Self {
        self.operands.push((port, tensor));
        self
    }

    /// With a tensor at a port, if there is one.
    pub fn maybe(self, port: &'static str, tensor: Option<Tensor>) -> Self {
        match tensor {
            Some(tensor) => self.operand(port, tensor),
            None => self,
        }
    }

    /// With a float constant.
    pub fn float(mut self, name: &'static str, value: f32) -> Self {
        self.constants = self.constants.float(name, value);
        self
    }

    /// With an integer constant.
    pub fn integer(mut self, name: &'static str, value: u32) -> Self {
        self.constants = self.constants.integer(name, value);
        self
    }

    /// With a node's own constants.
    pub fn constants(mut self, constants: Constants) -> Self {
        constants.iter().for_each(|(name, value)| self.constants.push(name, value));
        self
    }
}
