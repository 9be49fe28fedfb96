//! The choice of experts, and the sum of what they give.

use super::rows::quads;
use super::{Build, Launch, Scalars, Variant};
use weft_core::contract::{Allowed, Port, Symbol};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant { name: "rows", port: logits_port, ..Variant::any("router", wave_a_token) },
    Variant::any("router", block_a_token),
    Variant {
        name: "rows",
        port: sum_port,
        symbols: &[Symbol { name: "O", allowed: Allowed::MultipleOf(4, 1 << 32) }],
        ..Variant::any("expert_sum", quads_of_out)
    },
    Variant::any("expert_sum", elements_of_out),
];

pub(super) const SCALARS: Scalars = &[("expert_sum", &["groups_x"])];

/// Experts that a wave holds, and the most of them that it chooses.
const MOST_HELD: u64 = 512;
const MOST_CHOSEN: u64 = 32;
/// Tokens of a block, a wave each.
const WAVES: u32 = 4;

/// Logits as packed rows.
fn logits_port(port: Port) -> Port {
    if port.access.writes() { port } else { port.packed_rows().aligned(4) }
}

fn wave_a_token(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    if build.layout("logits")?.shape[0] > MOST_HELD || build.layout("ids")?.shape[0] > MOST_CHOSEN {
        return block_a_token(build);
    }
    Ok(vec![Launch::grid("router_wave", [build.rows("ids")?.div_ceil(WAVES), 1, 1], 32 * WAVES)])
}

fn block_a_token(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::grid("router_any", [build.rows("ids")?, 1, 1], 256)])
}

/// Rows of activations in groups of four; numbers of a token anywhere.
pub(super) fn sum_port(port: Port) -> Port {
    if matches!(port.name, "weights" | "gate") { port.aligned(4) } else { quads(port) }
}

/// A thread a group of four elements.
fn quads_of_out(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::threads("expert_sum_rows", build.elements("out")? / 4)?])
}

/// A thread an element.
fn elements_of_out(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::threads("expert_sum_any", build.elements("out")?)?])
}
