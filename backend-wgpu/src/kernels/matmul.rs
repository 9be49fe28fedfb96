//! Products with weights of every type.

use super::Variant;

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[];
