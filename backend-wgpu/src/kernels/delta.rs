//! The gated delta net: convolution, recurrence, and their fused forms.

use super::Variant;

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[];
