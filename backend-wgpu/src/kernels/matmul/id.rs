//! `mul_mat_id`.

use super::windows::{fits, slice, windows};
use crate::kernels::{Build, Launch};
use std::ops::Range;
use weft_core::graph::Layout;

/// The operands of a launch: some experts, and some of their rows.
struct Part {
    weight: Layout,
    out: Layout,
    experts: Range<u64>,
}

/// The dispatch in parts whose weights one binding holds. Parts begin at multiples of `block` rows.
fn parts(build: &Build<'_>, block: u64) -> Result<Vec<Part>, String> {
    let (weight, out) = (build.layout("weight")?, build.layout("out")?);
    let all = 0..weight.shape[2];
    if fits(build, &weight) || weight.is_empty() || out.is_empty() {
        return Ok(vec![Part { weight, out, experts: all }]);
    }
    if fits(build, &slice(&weight, 2, &(0..1))) {
        let part = |experts: Range<u64>| Part { weight: slice(&weight, 2, &experts), out, experts };
        return Ok(windows(build, &weight, 2, 1)?.into_iter().map(part).collect());
    }
    let mut parts = Vec::new();
    for expert in all {
        let experts = expert..expert + 1;
        let one = slice(&weight, 2, &experts);
        for rows in windows(build, &one, 1, block)? {
            let (weight, out) = (slice(&one, 1, &rows), slice(&out, 0, &rows));
            parts.push(Part { weight, out, experts: experts.clone() });
        }
    }
    Ok(parts)
}

/// A launch on these operands. It skips experts outside the part.
fn on(part: &Part, launch: Launch, experts: u32) -> Result<Launch, String> {
    let first = u32::try_from(part.experts.start).map_err(|e| e.to_string())?;
    Ok(launch
        .layout("weight", part.weight)
        .layout("out", part.out)
        .integer("first", first)
        .integer("experts", experts))
}

/// One invocation an element.
pub(super) fn any(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let experts = build.shape("weight")?[2];
    let launch = |part: &Part| {
        let all = u32::try_from(part.out.elements()).map_err(|_| "`out` has more than 2^32 elements".to_owned())?;
        on(part, Launch::flat(all.div_ceil(256)).define("form", "any"), experts)
    };
    parts(build, 1)?.iter().map(launch).collect()
}
