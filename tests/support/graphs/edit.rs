//! Graphs changed at one place: near misses, made by rule.

use super::import::{Import, Source, Value};
use std::collections::HashMap;
use weft_core::graph::{DType, Graph, Layout, Node, NodeId, Op, TensorId, UnaryKind};

/// What is put between a node and one of its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// A view that changes nothing.
    View,
    /// A view with two equal extents exchanged.
    Turned,
    /// A view that shows the first of the outermost rows everywhere.
    Repeated,
    /// A packed copy.
    Copy,
    /// A packed copy in half precision.
    Half,
    /// Another operation.
    Scale,
}

/// All of them.
pub const BETWEEN: [Between; 6] =
    [Between::View, Between::Turned, Between::Repeated, Between::Copy, Between::Half, Between::Scale];

/// One change at one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Nothing.
    Nothing,
    /// Another operation, or other attributes.
    Op(Op),
    /// A source left out.
    NoSource(usize),
    /// Something between the node and a source.
    Via(usize, Between),
    /// A factor in place on a source's bytes, before the node.
    Writer(usize),
    /// A factor in place on the first of a source's outermost rows, before the node.
    Patch(usize),
    /// The first two sources exchanged.
    Swapped,
    /// The second source replaced by the first.
    Twice,
    /// The result over the first source.
    InPlace,
    /// A second reader of the first result.
    Reader,
    /// The first result as an output.
    Output,
}

/// A changed graph, and where each old node went.
#[derive(Debug)]
pub struct Changed {
    pub graph: Graph,
    pub nodes: HashMap<NodeId, NodeId>,
}

struct Replay<'a> {
    old: &'a Graph,
    new: Import,
    nodes: HashMap<NodeId, NodeId>,
    /// Results that lie elsewhere now.
    moved: HashMap<Value, Value>,
}

impl Replay<'_> {
    fn value(&self, tensor: TensorId) -> Value {
        let tensor = self.old.tensor(tensor);
        let value = Value { storage: tensor.storage, layout: tensor.layout };
        self.moved.get(&value).copied().unwrap_or(value)
    }

    fn sources(&self, node: &Node) -> Vec<Source> {
        let source = |id: &Option<TensorId>| match id {
            None => Source::None,
            Some(id) if node.op != Op::View && node.results.contains(id) => Source::Own,
            Some(id) => Source::Value(self.value(*id)),
        };
        node.sources.iter().map(source).collect()
    }

    fn between(&mut self, x: Value, what: Between) -> Option<Value> {
        let shape = x.shape();
        let mut layout = x.layout;
        Some(match what {
            Between::View => self.new.alias(x, layout),
            Between::Turned => {
                let pairs = [(1, 2), (0, 1), (2, 3), (0, 2)];
                let equal = |(a, b): &(usize, usize)| shape[*a] == shape[*b] && shape[*a] > 1;
                let (a, b) = pairs.into_iter().find(equal)?;
                layout.strides.swap(a, b);
                self.new.alias(x, layout)
            }
            Between::Repeated => {
                let outer = (1..4).rev().find(|d| shape[*d] > 1)?;
                layout.strides[outer] = 0;
                self.new.alias(x, layout)
            }
            Between::Copy => self.new.packed_copy(x),
            Between::Half if x.layout.dtype == DType::F32 => self.new.op(Op::Cast { to: DType::F16 }, &[x]),
            Between::Scale if x.layout.dtype == DType::F32 => self.new.scale(x, 0.5, 0.0),
            Between::Half | Between::Scale => return None,
        })
    }

    fn node(&mut self, id: NodeId, change: Option<&Change>) -> Option<()> {
        let node = self.old.node(id);
        let mut op = node.op;
        let mut sources = self.sources(node);
        let mut places: Vec<Value> = node.results.iter().map(|t| self.value(*t)).collect();
        let at = |sources: &[Source], index: usize| match sources.get(index) {
            Some(Source::Value(value)) => Some(*value),
            _ => None,
        };
        match change {
            Some(Change::Op(other)) => op = *other,
            Some(Change::NoSource(index)) => {
                at(&sources, *index)?;
                sources[*index] = Source::None;
            }
            Some(Change::Via(index, what)) => {
                let value = at(&sources, *index)?;
                sources[*index] = Source::Value(self.between(value, *what)?);
            }
            Some(Change::Writer(index)) => {
                let value = at(&sources, *index)?;
                if value.layout.dtype != DType::F32 {
                    return None;
                }
                self.new.in_place(Op::Scale { scale: 0.5, bias: 0.0 }, &[value]);
            }
            Some(Change::Patch(index)) => {
                let value = at(&sources, *index)?;
                let outer = (1..4).rev().find(|d| value.shape()[*d] > 1)?;
                if value.layout.dtype != DType::F32 {
                    return None;
                }
                let mut row = value;
                row.layout.shape[outer] = 1;
                self.new.in_place(Op::Scale { scale: 0.5, bias: 0.0 }, &[row]);
            }
            Some(Change::Swapped) => {
                at(&sources, 0)?;
                at(&sources, 1)?;
                sources.swap(0, 1);
            }
            Some(Change::Twice) => {
                at(&sources, 1)?;
                sources[1] = Source::Value(at(&sources, 0)?);
            }
            Some(Change::InPlace) => {
                let first = at(&sources, 0)?;
                let place = *places.first()?;
                if first.shape() != place.shape() || first.layout.dtype != place.layout.dtype {
                    return None;
                }
                self.moved.insert(place, first);
                places[0] = first;
            }
            Some(Change::Nothing | Change::Reader | Change::Output) | None => {}
        }
        let made = self.new.push(op, &sources, &places, &node.label);
        self.nodes.insert(id, made);
        match change {
            Some(Change::Reader) => {
                let value = *places.first()?;
                if value.layout.dtype != DType::F32 {
                    return None;
                }
                let other = self.new.unary(UnaryKind::Neg, value);
                self.new.output("changed", other);
            }
            Some(Change::Output) => self.new.output("changed", *places.first()?),
            _ => {}
        }
        Some(())
    }
}

/// A graph with one change, if the change is possible there and the result is a legal graph.
pub fn changed(graph: &Graph, node: NodeId, change: &Change) -> Option<Changed> {
    let mut replay =
        Replay { old: graph, new: Import::over(graph), nodes: HashMap::new(), moved: HashMap::new() };
    for id in graph.node_ids() {
        replay.node(id, (id == node).then_some(change))?;
    }
    for (name, tensor) in &graph.outputs {
        let value = replay.value(*tensor);
        replay.new.output(name, value);
    }
    let graph = replay.new.finish().ok()?;
    Some(Changed { graph, nodes: replay.nodes })
}

/// Every change that makes sense at a node.
pub fn changes(graph: &Graph, node: NodeId) -> Vec<Change> {
    let it = graph.node(node);
    let mut all = vec![Change::Swapped, Change::Twice, Change::InPlace, Change::Reader, Change::Output];
    all.extend(other_ops(&it.op).into_iter().map(Change::Op));
    for index in 0..it.sources.len() {
        all.push(Change::NoSource(index));
        all.extend([Change::Writer(index), Change::Patch(index)]);
        all.extend(BETWEEN.map(|what| Change::Via(index, what)));
    }
    all
}

/// Other operations of as many sources, and the same one with other attributes.
fn other_ops(op: &Op) -> Vec<Op> {
    use weft_core::graph::{BinaryKind, HeadMap, L2Form};
    let unary = |kind| Op::Unary { kind };
    let binary = |kind| Op::Binary { kind };
    match *op {
        Op::Unary { .. } => vec![
            unary(UnaryKind::Silu),
            unary(UnaryKind::Sigmoid),
            unary(UnaryKind::Softplus),
            unary(UnaryKind::Neg),
            Op::Scale { scale: 0.5, bias: 0.0 },
        ],
        Op::Binary { .. } => vec![
            binary(BinaryKind::Add),
            binary(BinaryKind::Sub),
            binary(BinaryKind::Mul),
            binary(BinaryKind::Div),
            Op::Swiglu,
        ],
        Op::RmsNorm { eps } => vec![
            Op::RmsNorm { eps: eps * 2.0 },
            Op::L2Norm { eps, form: L2Form::SumEps },
            unary(UnaryKind::Tanh),
        ],
        Op::L2Norm { eps, .. } => vec![
            Op::L2Norm { eps, form: L2Form::MaxEps },
            Op::L2Norm { eps, form: L2Form::SumEps },
            Op::L2Norm { eps: eps * 2.0, form: L2Form::SumEps },
            Op::RmsNorm { eps },
        ],
        Op::GatedDeltaNet { snapshots, .. } => vec![
            Op::GatedDeltaNet { snapshots, heads: HeadMap::Tiled },
            Op::GatedDeltaNet { snapshots, heads: HeadMap::Grouped },
        ],
        Op::Scale { scale, bias } => vec![Op::Scale { scale, bias: bias + 1.0 }, unary(UnaryKind::Tanh)],
        Op::Clamp { min, .. } => vec![Op::Clamp { min, max: 0.5 }, unary(UnaryKind::Tanh)],
        Op::TopK { k } => vec![Op::TopK { k: k.div_ceil(2) }],
        Op::Softmax { scale } => vec![Op::Softmax { scale: scale * 2.0 }, unary(UnaryKind::Tanh)],
        Op::Copy | Op::Cast { .. } => vec![Op::Cast { to: DType::F16 }],
        Op::Rope(_) => vec![unary(UnaryKind::Tanh)],
        _ => Vec::new(),
    }
}

/// The graph without these view nodes: their readers read the same tensors as before.
pub fn folded(graph: &Graph, mut away: impl FnMut(NodeId) -> bool) -> Graph {
    let kept = graph.node_ids().filter(|id| graph.node(*id).op != Op::View || !away(*id));
    Graph { nodes: kept.map(|id| graph.node(id).clone()).collect(), ..graph.clone() }
}

/// The nodes in another order of the list; who reads which version stays the same.
pub fn shuffled(graph: &Graph, random: &mut crate::Random) -> Graph {
    let mut nodes = graph.nodes.clone();
    for at in (1..nodes.len()).rev() {
        nodes.swap(at, random.below(at as u64 + 1) as usize);
    }
    Graph { nodes, ..graph.clone() }
}

/// A tensor's layout, changed, everywhere that this tensor is named. For graphs that need not pass verification.
pub fn relaid(graph: &Graph, tensor: TensorId, change: impl Fn(&mut Layout)) -> Graph {
    let mut graph = graph.clone();
    change(&mut graph.tensors[tensor.index()].layout);
    graph
}
