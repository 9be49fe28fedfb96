//! One message of a conversation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A message as templates see it: its fields by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks: `system`, `user`, `assistant`, `tool`, or what else the template knows.
    pub role: String,
    /// What is said.
    pub content: String,
    /// Further fields that some templates read, such as `tool_calls` or `reasoning_content`.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Message {
    /// A message of text alone.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into(), extra: Map::new() }
    }

    /// Bytes of text in the message.
    pub(super) fn weight(&self) -> usize {
        self.role.len() + self.content.len() + map_weight(&self.extra)
    }
}

/// Bytes of text in a map, plus a few for each value.
pub(super) fn map_weight(map: &Map<String, Value>) -> usize {
    map.iter().map(|(key, value)| key.len() + value_weight(value)).sum()
}

fn value_weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => 8 + text.len(),
        Value::Array(items) => 8 + items.iter().map(value_weight).sum::<usize>(),
        Value::Object(map) => 8 + map_weight(map),
    }
}
