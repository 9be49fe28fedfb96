//! Kernels that reduce along rows: a workgroup each.

use super::{Build, Launch, Variant};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[Variant::any("rms_norm", rows_of_out)];

/// One workgroup a row.
fn rows_of_out(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.rows("out")?)])
}
