//! Windows: parts of a weight that one binding holds.

use crate::kernels::Build;
use std::ops::Range;
use weft_core::graph::Layout;

/// Bytes that a binding may hold besides its tensor: it begins and ends at multiples of 256.
const SLACK: u64 = 512;

/// Indices `range` of a dimension.
pub(super) fn slice(layout: &Layout, dim: usize, range: &Range<u64>) -> Layout {
    let mut part = *layout;
    part.offset += range.start * layout.strides[dim];
    part.shape[dim] = range.end - range.start;
    part
}

/// Whether one binding holds a weight.
pub(super) fn fits(build: &Build<'_>, port: &str, weight: &Layout) -> bool {
    span(build, port, weight).is_some_and(|bytes| bytes + SLACK <= build.caps.binding)
}

/// Bytes from the first to the last of a weight in its buffer.
fn span(build: &Build<'_>, port: &str, weight: &Layout) -> Option<u64> {
    match build.packing(port) {
        None => weight.range().map(|range| range.end - range.start),
        Some(rows) => {
            let (packed, _) = rows.translate(weight)?;
            let mut steps =
                (1..4).map(|dim| packed.shape[dim].saturating_sub(1).saturating_mul(packed.strides[dim]));
            steps.try_fold(rows.pitch(), u64::checked_add)
        }
    }
}

/// Ranges of a dimension, in order, that one binding holds each. They begin at multiples of `block` if that many fit.
///
/// # Errors
/// Not even one index fits.
pub(super) fn windows(
    build: &Build<'_>,
    weight: &Layout,
    dim: usize,
    block: u64,
) -> Result<Vec<Range<u64>>, String> {
    let extent = weight.shape[dim];
    let holds = |count: u64| fits(build, "weight", &slice(weight, dim, &(0..count.min(extent))));
    if holds(extent) {
        return Ok(std::iter::once(0..extent).collect());
    }
    // A weight of very long rows is cut finer than its kernel would like.
    let block = if holds(block) { block } else { 1 };
    if !holds(block) {
        return Err(format!("one binding of {} bytes cannot hold a row of `weight`", build.caps.binding));
    }
    // The largest number of blocks that fits: the span grows with the count.
    let (mut low, mut high) = (1, extent.div_ceil(block));
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if holds(middle * block) { low = middle } else { high = middle }
    }
    let size = low * block;
    Ok((0..extent.div_ceil(size)).map(|n| n * size..((n + 1) * size).min(extent)).collect())
}
