//! What a session's compiled plans are kept by.

use crate::models::Batch;

/// What a compiled plan is for.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Shape {
    pub batch: Batch,
    /// Whether it looks for values that are not finite.
    pub checked: bool,
}

impl From<Batch> for Shape {
    fn from(batch: Batch) -> Self {
        Shape { batch, checked: false }
    }
}
