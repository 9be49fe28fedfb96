//! The choice of experts, and the sum of what they give.

use super::rows::quads;
use super::{Build, Launch, Variant};
use weft_core::contract::{Allowed, Port, Symbol};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "tokens",
        symbols: &[Symbol { name: "K", allowed: Allowed::Between(1, MOST_CHOSEN) }],
        ..Variant::any("router", group_a_token)
    },
    Variant {
        name: "rows",
        port: sum_port,
        symbols: &[Symbol { name: "O", allowed: Allowed::MultipleOf(4, 1 << 32) }],
        ..Variant::any("expert_sum", quads_of_out)
    },
    Variant::any("expert_sum", elements_of_out),
];

/// Experts of a token that a workgroup keeps.
const MOST_CHOSEN: u64 = 256;

fn group_a_token(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.rows("ids")?)])
}

/// Rows of activations in groups of four; numbers of a token anywhere.
pub(super) fn sum_port(port: Port) -> Port {
    if matches!(port.name, "weights" | "gate") { port } else { quads(port) }
}

/// One invocation an element.
fn elements_of_out(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.elements("out")?.div_ceil(256))])
}

/// One invocation a group of four elements.
fn quads_of_out(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.elements("out")?.div_ceil(4 * 256)).flag("rows", true)])
}
