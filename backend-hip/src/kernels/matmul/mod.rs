//! Products with weights of every type.

mod id;
mod id_joined;
mod joined;
mod ports;
mod product;
#[cfg(test)]
mod tests;

use super::{Build, Launch, Scalars, Variant};
use ports::{FEW, FEWER, WHOLE, WHOLE_TURNS, joined_port, mixed_port, product_port, quantised, rows_port};
use weft_core::contract::{Port, Symbol, Tolerance};

/// Variants of these kernels. Those for few columns stand before tiles: where both could, they read less.
pub(super) const VARIANTS: &[Variant] = &[
    fast("mul_mat", "q8", |port| quantised(product_port(port)), FEW, product::rounded_columns),
    exact("mul_mat", "vec", product_port, FEW, product::few_columns),
    fast("mul_mat", "wmma", joined_port, WHOLE_TURNS, product::matrices),
    exact("mul_mat", "tile", rows_port, WHOLE, product::tiles),
    Variant::any("mul_mat", |build| any(build, "mul_mat_any")),
    fast("mul_mats", "q8", joined_port, FEW, joined::several_rounded),
    exact("mul_mats", "vec", joined_port, FEW, joined::several),
    fast("mul_mat_swiglu", "q8", joined_port, FEW, joined::gated_rounded),
    exact("mul_mat_swiglu", "vec", joined_port, FEW, joined::gated),
    fast("mul_mat_mix", "q8", mixed_port, FEWER, joined::mixed_rounded),
    exact("mul_mat_mix", "vec", mixed_port, FEWER, joined::mixed),
    fast("mul_mat_id_swiglu", "q8", joined_port, FEW, id_joined::gated_rounded),
    exact("mul_mat_id_swiglu", "vec", joined_port, FEW, id_joined::gated),
    fast("mul_mat_id", "q8", |port| quantised(rows_port(port)), FEW, id::rounded_columns),
    exact("mul_mat_id", "vec", rows_port, FEW, id::few_columns),
    fast("mul_mat_id", "wmma", joined_port, WHOLE_TURNS, id::matrices),
    exact("mul_mat_id", "tile", rows_port, WHOLE, id::tiles),
    Variant::any("mul_mat_id", |build| any(build, "mul_mat_id_any")),
];

pub(super) const SCALARS: Scalars = &[
    ("mul_mat", &["groups_x", "split"]),
    ("mul_mat_id", &["groups_x", "split", "tile", "list", "halves"]),
    ("mul_mats", &["split"]),
    ("mul_mat_swiglu", &["groups_x", "split"]),
    ("mul_mat_mix", &["groups_x", "split"]),
    ("mul_mat_id_swiglu", &["groups_x", "split"]),
];

type PortOf = fn(Port) -> Port;
type BuildOf = fn(&mut Build<'_>) -> Result<Vec<Launch>, String>;

/// A variant that computes in f32.
const fn exact(
    stem: &'static str,
    name: &'static str,
    port: PortOf,
    symbols: &'static [Symbol],
    build: BuildOf,
) -> Variant {
    Variant { stem, name, exact: true, port, symbols, tolerance: None, build }
}

/// A variant that rounds columns to eight bits, or weights and columns to halves.
const fn fast(
    stem: &'static str,
    name: &'static str,
    port: PortOf,
    symbols: &'static [Symbol],
    build: BuildOf,
) -> Variant {
    Variant { stem, name, exact: false, port, symbols, tolerance: Some(Tolerance::EIGHT_BIT), build }
}

/// A wave an element.
fn any(build: &Build<'_>, function: &str) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::threads(function, build.elements("out")? * 32)?])
}
