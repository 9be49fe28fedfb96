//! Named constants of a dispatch.

use crate::kernels::KernelError;
use serde::{Serialize, Serializer, ser::SerializeMap};
use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};

/// A constant's value.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum Constant {
    /// A float; equal and hashed by its bits.
    #[serde(serialize_with = "crate::graph::float::serialize")]
    Float(f32),
    /// A count, index or discriminant.
    Integer(u32),
}

impl PartialEq for Constant {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Constant::Float(a), Constant::Float(b)) => a.to_bits() == b.to_bits(),
            (Constant::Integer(a), Constant::Integer(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Constant {}

impl Display for Constant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Float(value) => write!(f, "{value:?}"),
            Constant::Integer(value) => write!(f, "{value}"),
        }
    }
}

impl Hash for Constant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Constant::Float(value) => (0u8, value.to_bits()).hash(state),
            Constant::Integer(value) => (1u8, value).hash(state),
        }
    }
}

/// The constants of one dispatch, by name, in the order they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Constants(Vec<(&'static str, Constant)>);

impl Serialize for Constants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

impl Constants {
    /// No constants.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more float.
    pub fn float(mut self, name: &'static str, value: f32) -> Self {
        self.0.push((name, Constant::Float(value)));
        self
    }

    /// With one more integer.
    pub fn integer(mut self, name: &'static str, value: u32) -> Self {
        self.0.push((name, Constant::Integer(value)));
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Constant)> + '_ {
        self.0.iter().copied()
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<Constant> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }

    /// A float by name.
    ///
    /// # Errors
    /// [`KernelError::Constant`] if it is missing or an integer.
    pub fn f32(&self, name: &'static str) -> Result<f32, KernelError> {
        match self.get(name) {
            Some(Constant::Float(value)) => Ok(value),
            _ => Err(KernelError::Constant { name }),
        }
    }

    /// An integer by name.
    ///
    /// # Errors
    /// [`KernelError::Constant`] if it is missing or a float.
    pub fn u32(&self, name: &'static str) -> Result<u32, KernelError> {
        match self.get(name) {
            Some(Constant::Integer(value)) => Ok(value),
            _ => Err(KernelError::Constant { name }),
        }
    }

    pub(crate) fn push(&mut self, name: &'static str, value: Constant) {
        self.0.push((name, value));
    }
}
