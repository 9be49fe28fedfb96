//! Products with weights of every type.

mod bytes;
mod id;
mod joined;
mod ports;
mod product;
#[cfg(test)]
mod tests;
mod windows;

use super::{Build, Launch, Variant};
use crate::adapter::Caps;
use ports::{FEW, ONE, WHOLE, WHOLE_TURNS, has_matrices, matrix_plane, matrix_port, product_port, rows_port};
use weft_core::contract::{Port, Symbol, Tolerance};

/// Variants of these kernels. Vectors stand before matrices: where both could, they read less.
pub(super) const VARIANTS: &[Variant] = &[
    in_bytes("mul_mat", bytes::product, FEW, product::in_bytes),
    fast("mul_mat", "vec", product_port, FEW, product::few_columns),
    on_matrices("mul_mat", matrix_plane, WHOLE_TURNS, product::matrices),
    fast("mul_mat", "tile", rows_port, WHOLE, product::tiles),
    Variant::any("mul_mat", product::any),
    fast("mul_mats", "vec", joined::port, ONE, joined::several),
    in_bytes("mul_mat_swiglu", bytes::gated, ONE, joined::gated_bytes),
    fast("mul_mat_swiglu", "vec", joined::port, ONE, joined::gated),
    fast("mul_mat_mix", "vec", joined::port, ONE, joined::mixed),
    fast("mul_mat_id_swiglu", "vec", joined::port, FEW, id::gated),
    fast("mul_mat_id", "vec", rows_port, FEW, id::few_columns),
    on_matrices("mul_mat_id", matrix_port, WHOLE_TURNS, id::matrices),
    fast("mul_mat_id", "grouped", rows_port, WHOLE, id::tiles),
    Variant::any("mul_mat_id", id::any),
];

type PortOf = fn(Port) -> Port;
type BuildOf = fn(&mut Build<'_>) -> Result<Vec<Launch>, String>;

/// A variant for plain layouts on any device.
const fn fast(
    stem: &'static str,
    name: &'static str,
    port: PortOf,
    symbols: &'static [Symbol],
    build: BuildOf,
) -> Variant {
    let runs_on: fn(&Caps) -> bool = |_| true;
    Variant { stem, name, exact: true, port, symbols, tolerance: None, runs_on, build }
}

/// A variant for few columns that rounds x to 16 bits a value, relative to the largest of 16 neighbours.
const fn in_bytes(stem: &'static str, port: PortOf, symbols: &'static [Symbol], build: BuildOf) -> Variant {
    let tolerance = Some(Tolerance::EIGHT_BIT);
    Variant { exact: false, tolerance, runs_on: bytes::runs_on, ..fast(stem, "bytes", port, symbols, build) }
}

/// A variant that multiplies halves on matrix units.
const fn on_matrices(
    stem: &'static str,
    port: PortOf,
    symbols: &'static [Symbol],
    build: BuildOf,
) -> Variant {
    let tolerance = Some(Tolerance::EIGHT_BIT);
    Variant { stem, name: "coop", exact: false, port, symbols, tolerance, runs_on: has_matrices, build }
}
