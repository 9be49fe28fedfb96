//! Kernels that compute each element of their result alone.

use super::{Build, Launch, Variant};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] =
    &[Variant::any("unary", elements_of_out), Variant::any("binary", elements_of_out)];

/// One invocation an element.
fn elements_of_out(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.elements("out")?.div_ceil(256))])
}
