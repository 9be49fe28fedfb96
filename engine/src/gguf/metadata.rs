//! The keys and values of a file, and typed access to them.

use std::collections::HashMap;

use super::value::{Array, Value, ValueKind};
use super::{GgufError, HostBytes};

/// Keys and values in the order of the file.
#[derive(Clone, Debug)]
pub struct Metadata {
    file: String,
    entries: Vec<(String, Value)>,
    index: HashMap<String, usize>,
}

impl Metadata {
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), entries: Vec::new(), index: HashMap::new() }
    }

    pub(super) fn insert(&mut self, key: &str, value: Value) -> Result<(), GgufError> {
        if self.index.insert(key.to_owned(), self.entries.len()).is_some() {
            return Err(GgufError::DuplicateKey { file: self.file.clone(), key: key.to_owned() });
        }
        self.entries.push((key.to_owned(), value));
        Ok(())
    }

    /// The file that the metadata came from, for messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// All keys and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The value of a key, whatever its type.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.index.get(key).map(|&at| &self.entries[at].1)
    }

    /// The value of a key that may be absent.
    ///
    /// # Errors
    /// [`GgufError::WrongValue`] if it is there with another type, or does not fit `T`.
    pub fn find<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<Option<T>, GgufError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        T::from_value(value).map(Some).ok_or_else(|| GgufError::WrongValue {
            file: self.file.clone(),
            key: key.to_owned(),
            want: T::WANT,
            got: value.to_string(),
        })
    }

    /// The value of a key.
    ///
    /// # Errors
    /// [`GgufError::MissingKey`], and as [`Metadata::find`].
    pub fn get<'a, T: FromValue<'a>>(&'a self, key: &str) -> Result<T, GgufError> {
        self.find(key)?.ok_or_else(|| GgufError::MissingKey { file: self.file.clone(), key: key.to_owned() })
    }

    /// The value of a key that holds one number for all layers or an array of at least `count`; `None` if it is absent.
    ///
    /// # Errors
    /// [`GgufError::ShortArray`], and as [`Metadata::find`].
    pub fn find_per_layer<T>(&self, key: &str, count: usize) -> Result<Option<Vec<T>>, GgufError>
    where
        T: for<'a> FromValue<'a> + Clone,
        Vec<T>: for<'a> FromValue<'a>,
    {
        if !matches!(self.value(key), Some(Value::Array(_))) {
            return Ok(self.find::<T>(key)?.map(|value| vec![value; count]));
        }
        let mut values: Vec<T> = self.get(key)?;
        if values.len() < count {
            return Err(GgufError::ShortArray {
                file: self.file.clone(),
                key: key.to_owned(),
                want: count as u64,
                got: values.len() as u64,
            });
        }
        values.truncate(count);
        Ok(Some(values))
    }
}

/// What a metadata value can be read as. Integers convert between each other where the number fits.
pub trait FromValue<'a>: Sized {
    /// What was wanted, for messages.
    const WANT: &'static str;
    /// The value, or `None` if it is of another type or does not fit.
    fn from_value(value: &'a Value) -> Option<Self>;
}

macro_rules! from_numbers {
    ($($number:ty, $want:literal, $wants:literal, $read:expr;)*) => {$(
        impl FromValue<'_> for $number {
            const WANT: &'static str = $want;
            fn from_value(value: &Value) -> Option<Self> {
                $read(value)
            }
        }

        impl FromValue<'_> for Vec<$number> {
            const WANT: &'static str = $wants;
            fn from_value(value: &Value) -> Option<Self> {
                let Value::Array(array) = value else { return None };
                if array.kind() == ValueKind::String {
                    return None;
                }
                array.scalars().map(|scalar| $read(&scalar)).collect()
            }
        }
    )*};
}

from_numbers! {
    u32, "a u32", "an array of u32", |value: &Value| value.as_integer()?.try_into().ok();
    i32, "an i32", "an array of i32", |value: &Value| value.as_integer()?.try_into().ok();
    u64, "a u64", "an array of u64", |value: &Value| value.as_integer()?.try_into().ok();
    i64, "an i64", "an array of i64", |value: &Value| value.as_integer()?.try_into().ok();
    f32, "a float", "an array of floats", |value: &Value| value.as_float().map(|float| float as f32);
    bool, "a bool", "an array of bools", |value: &Value| match value {
        Value::Bool(claim) => Some(*claim),
        _ => None,
    };
}

impl<'a> FromValue<'a> for &'a str {
    const WANT: &'static str = "a UTF-8 string";
    fn from_value(value: &'a Value) -> Option<Self> {
        value.as_str()
    }
}

impl<'a> FromValue<'a> for &'a HostBytes {
    const WANT: &'static str = "a string";
    fn from_value(value: &'a Value) -> Option<Self> {
        match value {
            Value::String(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl<'a> FromValue<'a> for &'a Array {
    const WANT: &'static str = "an array";
    fn from_value(value: &'a Value) -> Option<Self> {
        match value {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }
}

impl<'a> FromValue<'a> for Strings<'a> {
    const WANT: &'static str = "an array of strings";
    fn from_value(value: &'a Value) -> Option<Self> {
        match value {
            Value::Array(array) if array.kind() == ValueKind::String => {
                Some(Strings { left: array.len(), bytes: array.bytes() })
            }
            _ => None,
        }
    }
}

/// The strings of an array, one after another, as bytes: they should be UTF-8, but tokens sometimes are not.
#[derive(Clone, Debug)]
pub struct Strings<'a> {
    left: u64,
    bytes: &'a [u8],
}

impl<'a> Iterator for Strings<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.left = self.left.checked_sub(1)?;
        let (length, rest) = self.bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (string, rest) = rest.split_at_checked(length)?;
        self.bytes = rest;
        Some(string)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Strings<'_> {}
