//! The `tojson` filter as the templates' authors know it: the text that Python's `json.dumps` writes.
//!
//! Keys keep their order, `", "` and `": "` separate, characters outside ASCII stand as they are unless asked otherwise,
//! and nothing is escaped for HTML.

use std::fmt::Write;

use minijinja::value::Kwargs;
use minijinja::{Error, ErrorKind, State, Value};
use serde_json::Value as Json;

use super::environment::charge_parts;

/// The filter: `value|tojson(ensure_ascii=false, indent=none, separators=none, sort_keys=false)`.
pub(super) fn tojson(
    state: &State,
    value: &Value,
    ensure_ascii: Option<Value>,
    arguments: Kwargs,
) -> Result<Value, Error> {
    let indent: Option<usize> = arguments.get("indent")?;
    let separators: Option<(String, String)> = match arguments.get::<Option<Value>>("separators")? {
        None => None,
        Some(pair) => Some((pair.get_item_by_index(0)?.to_string(), pair.get_item_by_index(1)?.to_string())),
    };
    let ensure_ascii = match ensure_ascii {
        Some(given) => given.is_true(),
        None => arguments.get::<Option<bool>>("ensure_ascii")?.unwrap_or(false),
    };
    let sort_keys = arguments.get::<Option<bool>>("sort_keys")?.unwrap_or(false);
    arguments.assert_all_used()?;
    if value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, "tojson was given an undefined value"));
    }
    charge_parts(state, value)?;
    let json = serde_json::to_value(value).map_err(|error| {
        Error::new(ErrorKind::InvalidOperation, "tojson cannot write this value").with_source(error)
    })?;
    let (between, after_key) = separators.unwrap_or_else(|| {
        let between = if indent.is_some() { "," } else { ", " };
        (between.to_owned(), ": ".to_owned())
    });
    let mut writer = Writer {
        state,
        text: String::new(),
        charged: 0,
        indent,
        between,
        after_key,
        ensure_ascii,
        sort_keys,
    };
    writer.value(&json, 0)?;
    Ok(Value::from(writer.text))
}

struct Writer<'state, 'template, 'environment> {
    state: &'state State<'template, 'environment>,
    text: String,
    /// Bytes already paid for.
    charged: usize,
    /// Spaces for each level, one item to a line; `None` writes everything in one line.
    indent: Option<usize>,
    between: String,
    after_key: String,
    ensure_ascii: bool,
    sort_keys: bool,
}

impl Writer<'_, '_, '_> {
    fn value(&mut self, value: &Json, depth: usize) -> Result<(), Error> {
        match value {
            Json::Null => self.text.push_str("null"),
            Json::Bool(true) => self.text.push_str("true"),
            Json::Bool(false) => self.text.push_str("false"),
            Json::Number(number) => self.text.push_str(&number_text(number)),
            Json::String(text) => self.string(text),
            Json::Array(items) if items.is_empty() => self.text.push_str("[]"),
            Json::Object(map) if map.is_empty() => self.text.push_str("{}"),
            Json::Array(items) => {
                self.text.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.begin_item(index, depth + 1)?;
                    self.value(item, depth + 1)?;
                }
                self.new_line(depth)?;
                self.text.push(']');
            }
            Json::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                if self.sort_keys {
                    entries.sort_by_key(|(key, _)| *key);
                }
                self.text.push('{');
                for (index, (key, item)) in entries.into_iter().enumerate() {
                    self.begin_item(index, depth + 1)?;
                    self.string(key);
                    self.text.push_str(&self.after_key);
                    self.value(item, depth + 1)?;
                }
                self.new_line(depth)?;
                self.text.push('}');
            }
        }
        self.pay()
    }

    fn begin_item(&mut self, index: usize, depth: usize) -> Result<(), Error> {
        if index > 0 {
            self.text.push_str(&self.between);
        }
        self.new_line(depth)
    }

    /// Starts a line where items have their own.
    fn new_line(&mut self, depth: usize) -> Result<(), Error> {
        if let Some(indent) = self.indent {
            let width = indent.saturating_mul(depth);
            self.state.consume_fuel(width as u64 / 64)?;
            self.text.push('\n');
            self.text.extend(std::iter::repeat_n(' ', width));
        }
        Ok(())
    }

    /// Pays for what was written since the last time, so that no text grows without a bound.
    fn pay(&mut self) -> Result<(), Error> {
        let grown = self.text.len() - self.charged;
        self.charged = self.text.len();
        self.state.consume_fuel(1 + grown as u64 / 64)
    }

    fn string(&mut self, text: &str) {
        self.text.push('"');
        for character in text.chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                '\0'..='\u{1f}' => self.unit(u32::from(character)),
                '\u{80}'.. if self.ensure_ascii => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        self.unit(u32::from(*unit));
                    }
                }
                _ => self.text.push(character),
            }
        }
        self.text.push('"');
    }

    fn unit(&mut self, unit: u32) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "\\u{unit:04x}");
    }
}

/// A number as Python writes it: a fraction always has a point or an exponent, the exponent a sign and two digits.
fn number_text(number: &serde_json::Number) -> String {
    let Some(value) = number.as_f64().filter(|_| number.is_f64()) else {
        return number.to_string();
    };
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::number_text;
    use serde_json::json;

    #[test]
    fn numbers_are_written_as_python_writes_them() {
        let cases = [
            (json!(3), "3"),
            (json!(-7), "-7"),
            (json!(1.0), "1.0"),
            (json!(0.1), "0.1"),
            (json!(0.0001), "0.0001"),
            (json!(0.00001), "1e-05"),
            (json!(1e16), "1e+16"),
            (json!(1.5e300), "1.5e+300"),
            (json!(123456789.0), "123456789.0"),
        ];
        for (value, text) in cases {
            assert_eq!(value.as_number().map(number_text).as_deref(), Some(text));
        }
    }
}
