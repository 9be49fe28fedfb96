//! The recurrence of heads in aligned rows, token by token with the state in registers.

use super::super::{Build, Launch, Variant};
use super::{blocks, entries, load};
use weft_core::contract::{Allowed, Extent, Port, Stride, Symbol};

/// `gated_delta_net` with one decay per head.
pub(super) const PLAIN: Variant = variant("gated_delta_net", |build| launches(build, "gated_delta_net"));

/// `gdn_core`.
pub(super) const CORE: Variant = variant("gdn_core", |build| launches(build, "gdn_core"));

/// Widths of heads that the kernels are written for.
pub(super) const WIDTH: Symbol = Symbol { name: "D", allowed: Allowed::OneOf(&[32, 64, 128]) };

/// Value channels of a block, and its threads.
const CHANNELS: u32 = 32;
pub(super) const THREADS: u32 = 128;

const fn variant(stem: &'static str, build: fn(&mut Build<'_>) -> Result<Vec<Launch>, String>) -> Variant {
    Variant { name: "heads", port, symbols: &[WIDTH], ..Variant::any(stem, build) }
}

/// Packed rows; those of a head's state, and of the result, behind each other.
fn port(mut port: Port) -> Port {
    match port.name {
        "segments" | "rows" | "alpha" | "dt" | "a" | "beta" => port,
        "gate" => {
            port.shape[0] = Extent::Is(1);
            port
        }
        "state" => port.strides([Stride::Packed, Stride::Packed, Stride::Any, Stride::Any]).aligned(16),
        "state_out" | "out" => states(port),
        _ => port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]).aligned(4),
    }
}

/// What is written, without gaps inside a head.
pub(super) const fn states(port: Port) -> Port {
    port.strides([Stride::Packed, Stride::Packed, Stride::AtLeastPacked, Stride::AtLeastPacked]).aligned(16)
}

/// A launch over pieces of heads of sequences or segments.
pub(super) fn pieces(function: String, dim: u32, heads: u32, entries: u32) -> Result<Launch, String> {
    Ok(Launch::grid(function, [blocks(&[dim / CHANNELS, heads])?, entries, 1], THREADS))
}

fn launches(build: &mut Build<'_>, stem: &str) -> Result<Vec<Launch>, String> {
    let [dim, heads, ..] = build.shape("v")?;
    let step = pieces(format!("{stem}_heads_{dim}"), dim, heads, entries(build)?)?;
    if build.maybe("rows").is_none() {
        return Ok(vec![step]);
    }
    // A gather may read what another sequence stores: all states are loaded first.
    let channels = load(build)?;
    Ok(vec![Launch::threads(format!("{stem}_load"), channels)?, step.integer("gathered", 1)])
}
