//! Kernels that compute each element of their result alone.

use super::rows::quads;
use super::{Build, Launch, Variant};
use weft_core::contract::{Allowed, Symbol};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant::any("unary", elements_of_out),
    Variant::any("binary", elements_of_out),
    Variant::any("scale", elements_of_out),
    Variant::any("clamp", elements_of_out),
    Variant::any("fill", elements_of_out),
    Variant::any("repeat", elements_of_out),
    Variant::any("diag", elements_of_out),
    Variant::any("tri", elements_of_out),
    Variant {
        name: "rows",
        port: quads,
        symbols: &[Symbol { name: "N0", allowed: Allowed::MultipleOf(4, 1 << 32) }],
        ..Variant::any("swiglu", quads_of_out)
    },
    Variant::any("swiglu", elements_of_out),
    Variant {
        name: "rows",
        port: quads,
        symbols: &[Symbol { name: "D", allowed: Allowed::MultipleOf(4, 1 << 32) }],
        ..Variant::any("mix_streams", quads_of_out)
    },
    Variant::any("mix_streams", elements_of_out),
];

/// One invocation an element.
fn elements_of_out(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.elements("out")?.div_ceil(256))])
}

/// One invocation a group of four elements.
fn quads_of_out(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.elements("out")?.div_ceil(4 * 256)).define("rows", 1)])
}
