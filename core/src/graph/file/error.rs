//! Why a graph file was refused.

use crate::graph::GraphError;
use thiserror::Error;

/// What is wrong with a graph file. Entries are named by their list, their index and, where they have one, their name.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum GraphFileError {
    #[error("a graph file of {bytes} bytes: at most {most} are read")]
    TooLarge { bytes: u64, most: u64 },
    #[error("not a graph file: {why}; see docs/graphs.md for the form")]
    Form { why: String },
    #[error("`format` is `{got}`: a graph file says `{want}`")]
    Format { got: String, want: &'static str },
    #[error("version {got} of the graph format: this program reads version {want}; write the file anew")]
    Version { got: u64, want: u64 },
    #[error("{entry}: {why}")]
    Entry { entry: Entry, why: String },
    #[error("{entry}: `{field}` is {got}, at most {most} is allowed")]
    Limit { entry: Entry, field: &'static str, got: u64, most: u64 },
    #[error("{entry}: {source}")]
    Invalid { entry: Entry, source: Box<GraphError> },
    #[error("the graph as a whole: {0}")]
    Graph(#[from] GraphError),
}

/// Which entry of a graph file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The list: `storage`, `tensor`, `node` or `output`.
    pub list: &'static str,
    /// Its index, counted from 0.
    pub index: usize,
    /// Its name, or for a node without one its operation; empty if it has neither.
    pub name: String,
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.list, self.index)?;
        if self.name.is_empty() { Ok(()) } else { write!(f, " (`{}`)", self.name) }
    }
}
