//! Floats in files: as short as an f32 can be told, and as text where JSON has no number, as for infinities.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f64),
    Text(String),
}

/// A number if it is finite, else `inf`, `-inf` or `NaN`.
pub(crate) fn serialize<S: Serializer>(value: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    let text = value.to_string();
    // The digits that tell this f32 from all others, not those of the f64 nearest to it.
    match text.parse() {
        Ok(number) if value.is_finite() => Written::Number(number).serialize(serializer),
        _ => Written::Text(text).serialize(serializer),
    }
}

/// The inverse of [`serialize`].
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    match Written::deserialize(deserializer)? {
        Written::Number(value) => Ok(value as f32),
        Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::Op;

    #[test]
    fn a_float_is_as_short_as_it_can_be() {
        let op = Op::RmsNorm { eps: 1e-6 };
        assert_eq!(serde_json::to_string(&op).unwrap(), r#"{"rms_norm":{"eps":1e-6}}"#);
        assert_eq!(serde_json::to_value(op).unwrap().to_string(), r#"{"rms_norm":{"eps":1e-6}}"#);
        for bits in (0..u32::MAX).step_by(40_009) {
            let op = Op::Fill { value: f32::from_bits(bits) };
            let read: Op = serde_json::from_str(&serde_json::to_string(&op).unwrap()).unwrap();
            let Op::Fill { value } = read else { unreachable!("a fill") };
            assert!(value.to_bits() == bits || (value.is_nan() && f32::from_bits(bits).is_nan()), "{bits:x}");
        }
    }

    #[test]
    fn an_operation_survives_a_file() {
        for value in [0.5, -0.0, f32::INFINITY, f32::NEG_INFINITY] {
            let op = Op::Clamp { min: value, max: f32::INFINITY };
            let text = serde_json::to_string(&op).unwrap();
            assert_eq!(serde_json::from_str::<Op>(&text).unwrap(), op, "{text}");
        }
    }
}
