//! The entries of a graph file as they stand in it.

use crate::graph::{Graph, NodeId, Op, Owner, TensorId};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::fmt::Formatter;
use std::marker::PhantomData;

/// What the field `format` of a graph file says.
pub const FORMAT: &str = "weft-graph";
/// The version that is written and read.
pub const VERSION: u64 = 1;

/// A block of bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageRecord {
    /// Unique among weights, states and inputs; may be left out of an activation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Who fills it.
    pub kind: Owner,
    /// Size in bytes.
    pub bytes: u64,
}

/// A layout on a storage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorRecord {
    /// Index of the storage.
    pub storage: u32,
    /// Element type by its GGUF name.
    pub dtype: String,
    /// One to four extents, innermost first.
    pub shape: Vec<u64>,
    /// As many strides in bytes; packed if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strides: Option<Vec<u64>>,
    /// Bytes from the storage's start.
    #[serde(default)]
    pub offset: u64,
    /// Which writes to the storage it sees; if no tensor says so, the order of the nodes counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

/// An operation with its operands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRecord {
    /// The operation.
    pub op: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The operation's constants.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
    /// Indices of tensors, in the order of the operation's signature; null where an optional one is left out.
    pub sources: Vec<Option<u32>>,
    /// Indices of tensors, in the order of the operation's signature.
    pub results: Vec<u32>,
}

/// What the host wants back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputRecord {
    /// Unique among outputs.
    pub name: String,
    /// Index of the tensor.
    pub tensor: u32,
}

/// A graph as a file holds it; not checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphRecord {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u64,
    /// Blocks of bytes.
    pub storages: Vec<StorageRecord>,
    /// Layouts on storages.
    pub tensors: Vec<TensorRecord>,
    /// Operations.
    pub nodes: Vec<NodeRecord>,
    /// What the host wants back.
    pub outputs: Vec<OutputRecord>,
}

impl From<&Graph> for GraphRecord {
    fn from(graph: &Graph) -> Self {
        GraphRecord {
            format: FORMAT.to_owned(),
            version: VERSION,
            storages: graph
                .storages
                .iter()
                .map(|s| StorageRecord { name: s.name.clone(), kind: s.owner, bytes: s.bytes })
                .collect(),
            tensors: (0..graph.tensors.len()).map(|i| tensor(graph, TensorId(i as u32))).collect(),
            nodes: graph.node_ids().map(|id| node(graph, id)).collect(),
            outputs: graph
                .outputs
                .iter()
                .map(|(name, t)| OutputRecord { name: name.clone(), tensor: t.0 })
                .collect(),
        }
    }
}

fn tensor(graph: &Graph, id: TensorId) -> TensorRecord {
    let tensor = graph.tensor(id);
    TensorRecord {
        storage: tensor.storage.0,
        dtype: tensor.dtype().name().to_owned(),
        shape: tensor.layout.shape.to_vec(),
        strides: Some(tensor.layout.strides.to_vec()),
        offset: tensor.layout.offset,
        version: Some(tensor.version),
    }
}

fn node(graph: &Graph, id: NodeId) -> NodeRecord {
    let node = graph.node(id);
    let (op, attributes) = op_record(&node.op);
    NodeRecord {
        op,
        name: node.label.clone(),
        attributes,
        sources: node.sources.iter().map(|s| s.map(|t| t.0)).collect(),
        results: node.results.iter().map(|t| t.0).collect(),
    }
}

/// An operation's name and attributes.
fn op_record(op: &Op) -> (String, Map<String, Value>) {
    match serde_json::to_value(op) {
        Ok(Value::String(name)) => (name, Map::new()),
        Ok(Value::Object(map)) => match map.into_iter().next() {
            Some((name, Value::Object(attributes))) => (name, attributes),
            _ => (String::new(), Map::new()),
        },
        // Operations are unit variants and variants with named fields: nothing else can come out.
        _ => (String::new(), Map::new()),
    }
}

impl NodeRecord {
    /// The operation with its attributes.
    ///
    /// # Errors
    /// What is unknown or missing, in words.
    pub(super) fn operation(&self) -> Result<Op, String> {
        let value = if self.attributes.is_empty() {
            Value::String(self.op.clone())
        } else {
            Value::Object(Map::from_iter([(self.op.clone(), Value::Object(self.attributes.clone()))]))
        };
        serde_json::from_value(value).map_err(|error| {
            let why = error.to_string();
            match why.strip_prefix("invalid type: unit variant, ") {
                Some(_) => format!("`{}` has no `attributes`, and it needs some", self.op),
                None if why.ends_with("expected unit") => format!("`{}` takes no attributes", self.op),
                None => format!("`{}`: {why}", self.op),
            }
        })
    }
}

/// A list that is refused as soon as it is longer than `MOST`, before more memory is taken for it.
#[derive(Debug)]
pub(super) struct Bounded<T, const MOST: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for Bounded<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Items::<T, MOST>(PhantomData))
    }
}

struct Items<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Items<T, MOST> {
    type Value = Bounded<T, MOST>;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "a list of at most {MOST} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == MOST {
                return Err(A::Error::custom(format!("a list of more than {MOST} entries")));
            }
            items.push(item);
        }
        Ok(Bounded(items))
    }
}
