//! Types of what attention layers keep of tokens.

use super::Hyper;
use weft_core::graph::DType;

/// Types of cached keys and values. One [`DType`] becomes the type of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheTypes {
    /// Of keys.
    pub keys: DType,
    /// Of values.
    pub values: DType,
}

impl CacheTypes {
    /// Types that keys and values may have.
    pub const KNOWN: &[DType] = &[DType::F32, DType::F16, DType::Q8_0, DType::Q4_0];

    /// One type for both.
    pub const fn both(dtype: DType) -> Self {
        CacheTypes { keys: dtype, values: dtype }
    }

    /// The type of index keys, from which attention chooses blocks: a step of a coarse type would choose other blocks, and there
    /// are few index keys. So quantised caches keep them as f16.
    pub const fn index(&self) -> DType {
        if self.keys.is_quantised() { DType::F16 } else { self.keys }
    }

    /// Why a model's heads cannot be kept so.
    pub(crate) fn refusal(&self, hyper: &Hyper) -> Option<&'static str> {
        let whole = |(dtype, width): (DType, u64)| width.is_multiple_of(dtype.block_values());
        if ![self.keys, self.values].iter().all(|dtype| Self::KNOWN.contains(dtype)) {
            return Some("keys and values are cached as F32, F16, Q8_0 or Q4_0");
        }
        if ![(self.keys, hyper.key_length), (self.values, hyper.value_length)].into_iter().all(whole) {
            return Some("the model's heads are no whole blocks of that type: take F16 or F32");
        }
        None
    }
}

impl From<DType> for CacheTypes {
    fn from(dtype: DType) -> Self {
        Self::both(dtype)
    }
}

impl std::fmt::Display for CacheTypes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.keys == self.values {
            return self.keys.fmt(f);
        }
        write!(f, "{} for keys, {} for values", self.keys, self.values)
    }
}
