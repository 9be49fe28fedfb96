//! How a rule looks at the graph: questions that can only fail with a reason.
//!
//! Every question counts as one step of the rule's walk, so a refusal names which link was missing. Questions look through
//! views: a producer is whoever wrote the bytes. A view between two links may only rename their shape; a rule that means a
//! part of a value, or another order, asks the `_of_part` form and checks the layout itself.

use super::{Claim, Decline, Why};
use crate::contract::Constants;
use crate::graph::{BinaryKind, Graph, Hazard, Layout, NodeId, Op, OpKind, Tensor, Write};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// The graph with what the driver derived from it once.
pub struct Scene<'g> {
    /// The graph.
    pub graph: &'g Graph,
    /// Who must run before whom.
    pub dependencies: crate::graph::Dependencies,
    writers: Vec<Vec<Write>>,
    takers: HashMap<Tensor, Vec<NodeId>>,
}

impl<'g> Scene<'g> {
    /// Derives order, writers, and who takes what.
    pub fn new(graph: &'g Graph) -> Self {
        let mut takers: HashMap<Tensor, Vec<NodeId>> = HashMap::new();
        for node in graph.node_ids() {
            for source in graph.node(node).sources.iter().flatten() {
                let nodes = takers.entry(*graph.tensor(*source)).or_default();
                if nodes.last() != Some(&node) {
                    nodes.push(node);
                }
            }
        }
        let dependencies = crate::graph::Dependencies::of(graph);
        Scene { graph, dependencies, writers: graph.writers(), takers }
    }

    /// The nodes that have these very bytes in this very layout and version as a source, in the order of the list.
    pub fn takers(&self, tensor: &Tensor) -> &[NodeId] {
        self.takers.get(tensor).map_or(&[], Vec::as_slice)
    }

    /// The nodes whose writes a tensor's bytes show, newest first.
    pub fn writers(&self, tensor: &Tensor) -> Vec<NodeId> {
        let list = &self.writers[tensor.storage.index()];
        let seen = list.partition_point(|write| write.version <= tensor.version);
        let mut found = Vec::new();
        for write in list[..seen].iter().rev() {
            if write.layout.overlaps(&tensor.layout) {
                found.push(write.node);
                if write.hides(&tensor.layout) {
                    break;
                }
            }
        }
        found
    }

    /// The version of a tensor's storage that holds after the whole graph has run.
    pub fn last_version(&self, tensor: &Tensor) -> u32 {
        self.writers[tensor.storage.index()].last().map_or(0, |write| write.version)
    }

    /// Whether a tensor shows a result of a node whole and in its order: the result itself under any shape.
    pub fn shows_whole(&self, tensor: &Tensor, writer: NodeId) -> bool {
        self.writers(tensor) == [writer]
            && self
                .graph
                .writes(writer)
                .map(|made| self.graph.tensor(made))
                .any(|made| made.storage == tensor.storage && same_elements(&made.layout, &tensor.layout))
    }
}

/// Whether both layouts address the same elements in the same order, whatever their shapes are called.
fn same_elements(made: &Layout, shown: &Layout) -> bool {
    let fits = |layout: Layout| {
        (0..4).all(|d| shown.shape[d] <= 1 || layout.strides[d] == shown.strides[d])
            && layout.offset == shown.offset
            && layout.dtype == shown.dtype
    };
    made.shape == shown.shape && fits(*made) || made.reshaped(shown.shape).is_some_and(fits)
}

/// One root offered to one rule.
pub struct Site<'s, 'g> {
    scene: &'s Scene<'g>,
    rule: &'static str,
    root: NodeId,
    step: Cell<u32>,
    visited: RefCell<Vec<NodeId>>,
}

impl<'s, 'g> Site<'s, 'g> {
    /// Offers `root` to `rule`.
    pub fn new(scene: &'s Scene<'g>, rule: &'static str, root: NodeId) -> Self {
        Site { scene, rule, root, step: Cell::new(0), visited: RefCell::new(vec![root]) }
    }

    /// The root.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// How many questions were asked so far.
    pub fn steps(&self) -> u32 {
        self.step.get()
    }

    /// Every node that the rule looked at.
    pub fn visited(&self) -> Vec<NodeId> {
        self.visited.borrow().clone()
    }

    fn ask(&self) -> u32 {
        let step = self.step.get();
        self.step.set(step + 1);
        step
    }

    fn see(&self, node: NodeId) {
        let mut visited = self.visited.borrow_mut();
        if !visited.contains(&node) {
            visited.push(node);
        }
    }

    fn decline<T>(&self, step: u32, node: NodeId, why: Why) -> Result<T, Decline> {
        Err(Decline { rule: self.rule, step: Some(step), node, why })
    }

    /// A question of the rule's own: declines with `why` unless it holds.
    ///
    /// # Errors
    /// The given reason.
    pub fn check(&self, holds: bool, node: NodeId, why: impl FnOnce() -> Why) -> Result<(), Decline> {
        let step = self.ask();
        if holds { Ok(()) } else { self.decline(step, node, why()) }
    }

    /// A value that the rule needs, or the reason why there is none.
    ///
    /// # Errors
    /// The given reason.
    pub fn need<T>(&self, value: Option<T>, node: NodeId, why: impl FnOnce() -> Why) -> Result<T, Decline> {
        let step = self.ask();
        match value {
            Some(value) => Ok(value),
            None => self.decline(step, node, why()),
        }
    }

    /// A node's operation.
    pub fn op(&self, node: NodeId) -> Op {
        self.scene.graph.node(node).op
    }

    /// A source that must be there.
    ///
    /// # Errors
    /// [`Why::Missing`].
    pub fn source(&self, node: NodeId, index: usize) -> Result<Tensor, Decline> {
        let step = self.ask();
        match self.maybe(node, index) {
            Some(tensor) => Ok(tensor),
            None => self.decline(step, node, Why::Missing { source: index }),
        }
    }

    /// A source that must be left out.
    ///
    /// # Errors
    /// [`Why::Unexpected`].
    pub fn no_source(&self, node: NodeId, index: usize) -> Result<(), Decline> {
        let step = self.ask();
        match self.maybe(node, index) {
            None => Ok(()),
            Some(_) => self.decline(step, node, Why::Unexpected { source: index }),
        }
    }

    /// A source that may be left out.
    pub fn maybe(&self, node: NodeId, index: usize) -> Option<Tensor> {
        let source = self.scene.graph.node(node).sources.get(index).copied().flatten();
        source.map(|id| *self.scene.graph.tensor(id))
    }

    /// The first result of a node. A node that was found as a producer or a writer has one.
    pub fn made(&self, node: NodeId) -> Option<Tensor> {
        self.scene.graph.node(node).results.first().map(|id| *self.scene.graph.tensor(*id))
    }

    /// A result of a node.
    ///
    /// # Errors
    /// [`Why::Missing`]: the operation has fewer results.
    pub fn result(&self, node: NodeId, index: usize) -> Result<Tensor, Decline> {
        let step = self.ask();
        match self.scene.graph.node(node).results.get(index) {
            Some(id) => Ok(*self.scene.graph.tensor(*id)),
            None => self.decline(step, node, Why::Missing { source: index }),
        }
    }

    /// The node whose whole result a source is, in its order. It must be of this kind.
    ///
    /// # Errors
    /// [`Why::Missing`], [`Why::ManyWriters`], [`Why::Op`], [`Why::Rearranged`].
    pub fn producer(&self, node: NodeId, index: usize, want: OpKind) -> Result<NodeId, Decline> {
        let step = self.step.get();
        let writer = self.producer_of_part(node, index, want)?;
        match self.maybe(node, index) {
            Some(tensor) if !self.scene.shows_whole(&tensor, writer) => {
                self.decline(step, node, Why::Rearranged { source: index })
            }
            _ => Ok(writer),
        }
    }

    /// The only node that wrote the bytes of a source, which must be of this kind. The source may be a part of its result.
    ///
    /// # Errors
    /// [`Why::Missing`], [`Why::ManyWriters`], [`Why::Op`].
    pub fn producer_of_part(&self, node: NodeId, index: usize, want: OpKind) -> Result<NodeId, Decline> {
        let step = self.ask();
        let Some(tensor) = self.maybe(node, index) else {
            return self.decline(step, node, Why::Missing { source: index });
        };
        let writers = self.scene.writers(&tensor);
        match writers.as_slice() {
            [] => self.decline(step, node, Why::Missing { source: index }),
            [writer] => {
                self.see(*writer);
                let got = self.op(*writer).kind();
                if got == want { Ok(*writer) } else { self.decline(step, *writer, Why::Op { want, got }) }
            }
            _ => self.decline(step, node, Why::ManyWriters { source: index, writers }),
        }
    }

    /// The first reader of this kind to which a node's result is a source, whole and in its order.
    ///
    /// # Errors
    /// [`Why::NoOperand`]: there is none of this kind; [`Why::Rearranged`]: it reads a part, or in another order.
    pub fn reader(&self, node: NodeId, want: OpKind) -> Result<NodeId, Decline> {
        let step = self.step.get();
        let reader = self.reader_of_part(node, want)?;
        let readers = self.scene.dependencies.readers(node).map(|edge| edge.node);
        let mut of_kind = readers.filter(|reader| self.op(*reader).kind() == want);
        match of_kind.find(|reader| self.takes_whole(*reader, node)) {
            Some(whole) => {
                self.see(whole);
                Ok(whole)
            }
            None => {
                let part = |tensor: Tensor| self.scene.writers(&tensor).contains(&node);
                let mut sources = 0..self.scene.graph.node(reader).sources.len();
                let source = sources.find(|index| self.maybe(reader, *index).is_some_and(part));
                self.decline(step, reader, Why::Rearranged { source: source.unwrap_or(0) })
            }
        }
    }

    /// Whether a source that a node reads is another's whole result.
    fn takes_whole(&self, reader: NodeId, of: NodeId) -> bool {
        self.scene.graph.reads(reader).any(|id| self.scene.shows_whole(self.scene.graph.tensor(id), of))
    }

    /// The first reader of this kind of any part of a node's result.
    ///
    /// # Errors
    /// [`Why::NoOperand`]: there is none.
    pub fn reader_of_part(&self, node: NodeId, want: OpKind) -> Result<NodeId, Decline> {
        let step = self.ask();
        let readers = self.scene.dependencies.readers(node).map(|edge| edge.node);
        self.first(step, node, readers.collect(), want)
    }

    /// The nodes behind this one in the list that do the same with the very tensor that is a source of this one.
    ///
    /// # Errors
    /// [`Why::NoOperand`]: none does; these are the kinds of those behind this one that have it as a source.
    pub fn siblings(&self, node: NodeId, index: usize) -> Result<Vec<NodeId>, Decline> {
        let step = self.ask();
        let shared = self.maybe(node, index);
        let takers = shared.as_ref().map_or(&[][..], |tensor| self.scene.takers(tensor));
        let later = || takers.iter().copied().filter(|taker| *taker > node);
        let want = self.op(node).kind();
        let alike = |taker: &NodeId| self.op(*taker).kind() == want && self.maybe(*taker, index) == shared;
        let found: Vec<NodeId> = later().filter(alike).collect();
        if found.is_empty() {
            let found = later().map(|taker| self.op(taker).kind()).collect();
            return self.decline(step, node, Why::NoOperand { want, found });
        }
        found.iter().for_each(|sibling| self.see(*sibling));
        Ok(found)
    }

    /// The first node of this kind that overwrites bytes a node read.
    ///
    /// # Errors
    /// [`Why::NoOperand`]: none does.
    pub fn overwriter(&self, node: NodeId, want: OpKind) -> Result<NodeId, Decline> {
        let step = self.ask();
        let later = self.scene.dependencies.after(node).iter();
        let later = later.filter(|edge| edge.hazard == Hazard::WriteAfterRead).map(|edge| edge.node);
        self.first(step, node, later.collect(), want)
    }

    fn first(&self, step: u32, of: NodeId, among: Vec<NodeId>, want: OpKind) -> Result<NodeId, Decline> {
        let kinds = || among.iter().map(|node| self.op(*node).kind());
        match kinds().position(|kind| kind == want) {
            Some(at) => {
                self.see(among[at]);
                Ok(among[at])
            }
            None => self.decline(step, of, Why::NoOperand { want, found: kinds().collect() }),
        }
    }

    /// Of a binary node of this kind, the source index that is `known`'s whole result, and the other one.
    ///
    /// # Errors
    /// [`Why::Attr`]: another function; [`Why::NotSame`]: `known` is not an operand.
    pub fn sides(&self, binary: NodeId, kind: BinaryKind, known: NodeId) -> Result<(usize, usize), Decline> {
        let step = self.ask();
        if self.op(binary) != (Op::Binary { kind }) {
            return self.decline(step, binary, Why::Attr { what: "kind" });
        }
        let made_by = |index| self.maybe(binary, index).is_some_and(|t| self.scene.shows_whole(&t, known));
        match (made_by(0), made_by(1)) {
            (true, _) => Ok((0, 1)),
            (false, true) => Ok((1, 0)),
            _ => self.decline(step, binary, Why::NotSame { what: "neither operand is the value before it" }),
        }
    }

    /// A claim by this rule.
    pub fn claim(&self, kernel: &'static str, nodes: &[NodeId]) -> Claim {
        let (operands, constants) = (Vec::new(), Constants::new());
        Claim { rule: self.rule, kernel, nodes: Vec::new(), operands, constants }.covering(nodes)
    }
}

/// A tensor without its leading extent of one.
pub fn squeezed(tensor: Tensor) -> Tensor {
    let mut layout = tensor.layout;
    if layout.shape[0] == 1 {
        let last = layout.strides[3];
        layout.shape = [layout.shape[1], layout.shape[2], layout.shape[3], 1];
        layout.strides = [layout.strides[1], layout.strides[2], layout.strides[3], last];
    }
    Tensor { layout, ..tensor }
}

/// A tensor under another shape, where a view can express it.
pub fn reshaped(tensor: Tensor, shape: [u64; 4]) -> Option<Tensor> {
    let layout = tensor.layout.reshaped(shape)?;
    Some(Tensor { layout, ..tensor })
}
