//! Kernels that move rows and elements, by index or in order.

use super::Variant;

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[];
