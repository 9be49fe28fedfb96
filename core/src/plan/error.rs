//! Why a graph has no plan.

use crate::driver::{Attempt, Decline, State};
use crate::graph::{GraphError, NodeId};
use std::fmt::{self, Display, Formatter};
use thiserror::Error;

/// A node that nothing took, or that was taken twice, with every attempt that touched it.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncovered {
    /// The node.
    pub node: NodeId,
    /// Its operation and label.
    pub name: String,
    /// How often it is covered.
    pub times: usize,
    /// Attempts whose rule looked at it.
    pub attempts: Vec<Attempt>,
}

impl Display for Uncovered {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.times {
            0 => write!(f, "no kernel takes {}", self.name)?,
            times => write!(f, "{} is covered {times} times", self.name)?,
        }
        // At most nine attempts: the last ones are the plain kernels', whose reasons are final.
        let shown = self.attempts.len().min(9);
        for attempt in &self.attempts[self.attempts.len() - shown..] {
            let last: Option<&Decline> = attempt.declines.last();
            match (&attempt.state, last) {
                (State::Offered | State::Matched, Some(decline)) => write!(f, "\n  {decline}")?,
                (state, _) => write!(f, "\n  {} at node {}: {state:?}", attempt.rule, attempt.root.0)?,
            }
        }
        Ok(())
    }
}

/// Why a graph has no plan.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum PlanError {
    #[error(transparent)]
    Graph(#[from] GraphError),
    #[error("no device was given: pass at least one backend")]
    NoDevice,
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Uncovered(Vec<Uncovered>),
    #[error("claims wait for each other at {node:?}: this is a fault of the planner")]
    Order { node: NodeId },
}

/// What is wrong with a plan file.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum PlanFileError {
    #[error("a plan file of {bytes} bytes: at most {most} are read")]
    TooLarge { bytes: u64, most: u64 },
    #[error("not a plan file: {why}; `weft plan --json` writes one")]
    Form { why: String },
    #[error("`format` is `{got}`: a plan file says `{want}`")]
    Format { got: String, want: &'static str },
    #[error("version {got} of the plan format: this program reads version {want}; write the file anew")]
    Version { got: u64, want: u64 },
}
