//! Floats in files: JSON has no infinities, so those are written as text.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f32),
    Text(String),
}

/// A number if it is finite, else `inf`, `-inf` or `NaN`.
pub(crate) fn serialize<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    let written = if value.is_finite() { Written::Number(*value) } else { Written::Text(value.to_string()) };
    written.serialize(serializer)
}

/// The inverse of [`serialize`].
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    match Written::deserialize(deserializer)? {
        Written::Number(value) => Ok(value),
        Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::Op;

    #[test]
    fn an_operation_survives_a_file() {
        for value in [0.5, -0.0, f32::INFINITY, f32::NEG_INFINITY] {
            let op = Op::Clamp { min: value, max: f32::INFINITY };
            let text = serde_json::to_string(&op).unwrap();
            assert_eq!(serde_json::from_str::<Op>(&text).unwrap(), op, "{text}");
        }
    }
}
