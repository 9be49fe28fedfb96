//! The recurrence of heads of whole lanes, token by token with the state in registers.

use super::super::{Build, Launch, Variant};
use super::{TEAM, invocations};
use weft_core::contract::{Allowed, Extent, Port, Stride, Symbol};

/// `gated_delta_net` with one decay per head.
pub(super) const PLAIN: Variant = variant("gated_delta_net");

/// `gdn_core`.
pub(super) const CORE: Variant = variant("gdn_core");

/// Rows of heads without gaps inside.
pub(super) const SYMBOLS: &[Symbol] = &[Symbol { name: "D", allowed: Allowed::MultipleOf(32, 256) }];

const fn variant(stem: &'static str) -> Variant {
    Variant {
        stem,
        name: "heads",
        exact: true,
        port,
        symbols: SYMBOLS,
        tolerance: None,
        runs_on: |_| true,
        build,
    }
}

fn port(mut port: Port) -> Port {
    match port.name {
        "segments" | "rows" => port,
        "alpha" | "beta" | "dt" | "a" => port.aligned(4),
        "gate" => {
            port.shape[0] = Extent::Is(1);
            port.aligned(4)
        }
        "state" => port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]).aligned(16),
        "state_out" => port.packed_rows().aligned(16),
        "out" => port.packed_rows().aligned(4),
        _ => port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]).aligned(4),
    }
}

/// Lanes that share two value channels of a head.
pub(super) fn lanes(dim: u32) -> u32 {
    if dim > 128 { 16 } else { 8 }
}

/// A launch of the recurrence over so many sequences or segments.
pub(super) fn step(build: &Build<'_>, dim: u32, heads: u32, entries: u32) -> Result<Launch, String> {
    let lanes = lanes(dim);
    let channels = 2 * TEAM / lanes;
    Ok(Launch::flat(invocations(&[dim / channels, heads, entries])?)
        .define("dim", format!("{dim}u"))
        .define("lanes", format!("{lanes}u"))
        .flag("subgroups", build.caps.subgroups.is_some_and(|(least, _)| least >= lanes)))
}

fn build(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [dim, heads, _, sequences] = build.shape("v")?;
    if build.maybe("segments").is_some() {
        let entries = build.shape("segments")?[1];
        return Ok(vec![step(build, dim, heads, entries)?]);
    }
    let step = step(build, dim, heads, sequences)?.flag("keeps", build.maybe("state_out").is_some());
    if build.maybe("rows").is_none() {
        return Ok(vec![step]);
    }
    let vectors = invocations(&[dim, heads, sequences, dim / 4])?;
    build.scratch = u64::from(vectors) * 16;
    Ok(vec![Launch::flat(vectors.div_ceil(TEAM)).flag("gather", true), step.flag("gathered", true)])
}
