//! Graph files: the stable form of a graph as JSON, described in `docs/graphs.md`.
//!
//! What is read is not trusted: sizes are limited, every index and every layout is checked, and the graph that comes out
//! has passed [`Graph::verify`].

mod error;
mod order;
mod read;
mod record;

pub use error::{Entry, GraphFileError};
pub use read::{MOST_BYTES, MOST_NODES, MOST_SIZE, MOST_STORAGES, MOST_TENSORS};
pub use record::{FORMAT, GraphRecord, NodeRecord, OutputRecord, StorageRecord, TensorRecord, VERSION};

use super::Graph;
use serde::Serialize;
use std::fmt::Write;

impl Graph {
    /// The graph as a file: one storage, tensor, node or output a line.
    pub fn to_json(&self) -> String {
        let record = GraphRecord::from(self);
        let mut text = format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION}");
        list(&mut text, "storages", &record.storages);
        list(&mut text, "tensors", &record.tensors);
        list(&mut text, "nodes", &record.nodes);
        list(&mut text, "outputs", &record.outputs);
        text.push_str("}\n");
        text
    }
}

fn list<T: Serialize>(text: &mut String, name: &str, items: &[T]) {
    let _ = write!(text, ",\n\"{name}\":[");
    for (index, item) in items.iter().enumerate() {
        // Records hold text, numbers and lists only: writing one cannot fail.
        let item = serde_json::to_string(item).unwrap_or_default();
        let _ = write!(text, "{}\n{item}", if index == 0 { "" } else { "," });
    }
    text.push(']');
}
