//! Near misses of rules, made from the fixtures on which they fire.

use super::Fixture;
use super::edit::{Change, changed, changes, relaid};
use super::small::firing;
use std::sync::Arc;
use weft_core::driver::{Claim, Decline, Scene, Site};
use weft_core::graph::{Graph, Layout, NodeId, Op};
use weft_core::rules::{FUSED, Rule};

/// A graph, and the node at which a rule is offered.
#[derive(Clone, Debug)]
pub struct Miss {
    pub name: String,
    pub graph: Arc<Graph>,
    pub root: NodeId,
}

/// A rule with its fixture and the root at which it fires.
pub struct Firing {
    pub rule: &'static Rule,
    pub fixture: Fixture,
    pub root: NodeId,
}

/// What a rule said at a root.
pub struct Said {
    /// Its claim or its refusal.
    pub verdict: Result<Claim, Decline>,
    /// Questions asked.
    pub steps: u32,
    /// Nodes looked at.
    pub visited: Vec<NodeId>,
}

/// An operation that no rule knows.
pub const STRANGER: Op = Op::CumSum;

type Relay = fn(&mut Layout);

/// Layouts that are off by little.
const RELAID: [(&str, Relay); 4] = [
    ("one element later", |layout| layout.offset += 4),
    ("rows one element shorter", |layout| layout.shape[0] -= u64::from(layout.shape[0] > 1)),
    ("rows further apart", |layout| layout.strides[1] += 16),
    ("rows cut in two", |layout| {
        layout.shape = [layout.shape[0] / 2, 2, layout.shape[1], 1];
        layout.strides[1] = layout.shape[0] * 4 + 64;
    }),
];

/// Every fused rule with its fixture.
///
/// # Panics
/// A rule has none.
pub fn all() -> Vec<Firing> {
    let mut fixtures = firing();
    FUSED
        .iter()
        .map(|rule| {
            let at = fixtures.iter().position(|(name, ..)| *name == rule.name);
            let (_, label, fixture) =
                fixtures.remove(at.unwrap_or_else(|| panic!("no fixture for {}", rule.name)));
            let root = fixture.node(label);
            Firing { rule, fixture, root }
        })
        .collect()
}

/// Offers a root to a rule, whatever the root's operation.
pub fn offer(rule: &'static Rule, graph: &Graph, root: NodeId) -> Said {
    let scene = Scene::new(graph);
    let site = Site::new(&scene, rule.name, root);
    let verdict = (rule.find)(&site);
    Said { verdict, steps: site.steps(), visited: site.visited() }
}

impl Firing {
    /// The nodes that the rule looks at where it fires.
    pub fn links(&self) -> Vec<NodeId> {
        offer(self.rule, &self.fixture.graph, self.root).visited
    }

    /// Legal graphs that differ from the fixture by one change at one link.
    pub fn misses(&self) -> Vec<Miss> {
        let graph = &self.fixture.graph;
        let mut all = Vec::new();
        for node in self.links() {
            for change in changes(graph, node) {
                all.extend(self.miss(node, &change));
            }
        }
        all
    }

    /// The fixture with one change at a node, if that is a legal graph.
    pub fn miss(&self, node: NodeId, change: &Change) -> Option<Miss> {
        let graph = &self.fixture.graph;
        let made = changed(graph, node, change)?;
        let name = format!("{} with {change:?} at {}", self.rule.name, graph.describe(node));
        Some(Miss { name, root: made.nodes[&self.root], graph: Arc::new(made.graph) })
    }

    /// Malformed graphs: a source or the results of one link taken away. No verified graph is like this; rules answer all
    /// the same.
    pub fn malformed(&self) -> Vec<Miss> {
        let graph = &self.fixture.graph;
        let mut all = Vec::new();
        let mut push = |name: String, graph: Graph| {
            all.push(Miss { name, graph: Arc::new(graph), root: self.root });
        };
        for node in self.links() {
            let it = graph.node(node);
            for index in 0..it.sources.len() {
                let mut made = (**graph).clone();
                made.nodes[node.index()].sources[index] = None;
                push(format!("{} without source {index} of {}", self.rule.name, graph.describe(node)), made);
            }
            for left in 0..it.results.len() {
                let mut made = (**graph).clone();
                made.nodes[node.index()].results.truncate(left);
                push(format!("{} with {left} results of {}", self.rule.name, graph.describe(node)), made);
            }
            let mut made = (**graph).clone();
            let first = it.sources[0];
            made.nodes[node.index()].sources.push(first);
            push(format!("{} with one more source of {}", self.rule.name, graph.describe(node)), made);
            for tensor in it.sources.iter().flatten().chain(&it.results) {
                for (what, change) in RELAID {
                    let made = relaid(graph, *tensor, change);
                    push(format!("{} with {what} at {}", self.rule.name, graph.describe(node)), made);
                }
            }
        }
        all
    }

    /// Malformed graphs in which a link is another operation altogether, in the order in which the rule meets the links.
    pub fn replaced(&self) -> Vec<(NodeId, Miss)> {
        let graph = &self.fixture.graph;
        let other = |node: &NodeId| {
            let mut made = (**graph).clone();
            made.nodes[node.index()].op = STRANGER;
            let name = format!("{} with a stranger at {}", self.rule.name, graph.describe(*node));
            (*node, Miss { name, graph: Arc::new(made), root: self.root })
        };
        self.links().iter().map(other).collect()
    }
}
