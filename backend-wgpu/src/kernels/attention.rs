//! Attention: norms and rotation of heads, key/value rows, softmax over cached cells.

use super::Variant;

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[];
