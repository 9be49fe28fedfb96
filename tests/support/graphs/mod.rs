//! Fixtures: graphs made by code, with the data that makes them telling.

pub mod cached;
pub mod casts;
pub mod catalog;
pub mod delta;
pub mod edit;
pub mod gates;
pub mod import;
pub mod masks;
pub mod misses;
pub mod models;
pub mod odd;
pub mod paired;
pub mod projections;
pub mod random;
pub mod same;
pub mod segmented;
pub mod sharing;
pub mod shipped;
pub mod small;
pub mod states;

use crate::run::{self, Data, Outcome};
use std::sync::Arc;
use weft_core::backend::Backend;
use weft_core::driver::{Offered, Options};
use weft_core::graph::{Graph, NodeId};
use weft_core::plan::{self, Plan, PlanError};
use weft_core::run::RunError;

/// A graph and the data that cannot be random.
#[derive(Clone, Debug)]
pub struct Fixture {
    pub name: String,
    pub graph: Arc<Graph>,
    pub data: Data,
}

impl Fixture {
    /// A finished import with its special data.
    ///
    /// # Panics
    /// The graph is malformed.
    pub fn new(name: impl Into<String>, import: import::Import, data: Data) -> Self {
        let name = name.into();
        let graph = import.finish().unwrap_or_else(|error| panic!("{name}: {error}"));
        Fixture { graph: Arc::new(graph), data, name }
    }

    /// The special data, and seeded values for everything else.
    pub fn filled(&self, seed: u64) -> Data {
        let mut data = self.data.clone();
        run::fill(&self.graph, &mut data, seed);
        data
    }

    /// The same data for another graph over the same storages.
    pub fn with(&self, name: &str, graph: Graph) -> Self {
        Fixture { name: format!("{} {name}", self.name), graph: Arc::new(graph), data: self.data.clone() }
    }

    /// Plans it for these devices.
    ///
    /// # Errors
    /// As the planner's.
    pub fn plan(&self, devices: &[Arc<dyn Backend>], options: &Options) -> Result<Plan, PlanError> {
        plan_for(&self.graph, devices, options)
    }

    /// Runs it once on seeded data.
    ///
    /// # Errors
    /// As the runner's.
    pub fn run(&self, devices: &[Arc<dyn Backend>], options: &Options) -> Result<Outcome, RunError> {
        run::run(&self.graph, devices, options, &self.filled(1))
    }

    /// The node of a label.
    ///
    /// # Panics
    /// There is none.
    pub fn node(&self, label: &str) -> NodeId {
        labelled(&self.graph, label).unwrap_or_else(|| panic!("{}: no node is called {label}", self.name))
    }
}

/// The node of a label.
pub fn labelled(graph: &Graph, label: &str) -> Option<NodeId> {
    graph.node_ids().find(|id| graph.node(*id).label == label)
}

/// Plans a graph for these devices.
///
/// # Errors
/// As the planner's.
pub fn plan_for(
    graph: &Arc<Graph>,
    devices: &[Arc<dyn Backend>],
    options: &Options,
) -> Result<Plan, PlanError> {
    let offered: Vec<Offered<'_>> =
        devices.iter().map(|b| Offered { name: b.name(), offers: b.offers() }).collect();
    plan::build(Arc::clone(graph), &offered, options)
}

/// Options with these rules off.
pub fn without(rules: &[&str]) -> Options {
    Options { disabled: rules.iter().map(|r| (*r).to_owned()).collect(), ..Options::default() }
}

/// How many claims of a rule a plan holds.
pub fn claims(plan: &Plan, rule: &str) -> usize {
    plan.dispatches.iter().filter(|d| d.rule == rule).count()
}
