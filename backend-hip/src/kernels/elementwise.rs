//! Kernels that compute each element of their result alone.

use super::rows::quads;
use super::{Build, Launch, Scalars, Variant};
use weft_core::contract::{Allowed, Symbol};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant::any("unary", |build| elements_of_out(build, "unary_any")),
    Variant::any("binary", |build| elements_of_out(build, "binary_any")),
    Variant::any("scale", |build| elements_of_out(build, "scale_any")),
    Variant::any("clamp", |build| elements_of_out(build, "clamp_any")),
    Variant::any("fill", |build| elements_of_out(build, "fill_any")),
    Variant::any("repeat", |build| elements_of_out(build, "repeat_any")),
    Variant::any("diag", |build| elements_of_out(build, "diag_any")),
    Variant::any("tri", |build| elements_of_out(build, "tri_any")),
    Variant {
        name: "rows",
        port: quads,
        symbols: &[Symbol { name: "N0", allowed: Allowed::MultipleOf(4, 1 << 32) }],
        ..Variant::any("swiglu", |build| quads_of_out(build, "swiglu_rows"))
    },
    Variant::any("swiglu", |build| elements_of_out(build, "swiglu_any")),
    Variant {
        name: "rows",
        port: quads,
        symbols: &[Symbol { name: "D", allowed: Allowed::MultipleOf(4, 1 << 32) }],
        ..Variant::any("mix_streams", |build| quads_of_out(build, "mix_streams_rows"))
    },
    Variant::any("mix_streams", |build| elements_of_out(build, "mix_streams_any")),
    Variant::any("ssm_conv", |build| elements_of_out(build, "ssm_conv_any")),
];

pub(super) const SCALARS: Scalars = &[
    ("unary", FOLDED),
    ("binary", FOLDED),
    ("scale", FOLDED),
    ("clamp", FOLDED),
    ("fill", FOLDED),
    ("repeat", FOLDED),
    ("diag", FOLDED),
    ("tri", FOLDED),
    ("swiglu", FOLDED),
    ("mix_streams", FOLDED),
    ("ssm_conv", FOLDED),
];

/// What a launch of a thread an item adds.
pub(super) const FOLDED: &[&str] = &["groups_x"];

/// One thread an element.
pub(super) fn elements_of_out(build: &mut Build<'_>, function: &str) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::threads(function, build.elements("out")?)?])
}

/// One thread a group of four elements.
pub(super) fn quads_of_out(build: &mut Build<'_>, function: &str) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::threads(function, build.elements("out")? / 4)?])
}
