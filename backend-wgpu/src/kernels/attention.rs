//! Attention: softmax over cached cells.

use super::{Build, Launch, Variant};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[Variant::any("flash_attention", any)];

/// Columns of values that a workgroup of the general form computes.
const COLUMNS: u32 = 256;

/// A workgroup for each row of results, and for each 256 columns of it.
fn any(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [width, ..] = build.shape("out")?;
    let groups = build.rows("out")?.checked_mul(width.div_ceil(COLUMNS)).ok_or("too many rows of results")?;
    Ok(vec![Launch::flat(groups).flag("any", true)])
}
