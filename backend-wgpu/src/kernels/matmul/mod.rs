//! Products with weights of every type.

mod id;
mod ports;
mod product;
mod windows;

use super::Variant;
use ports::{FEW, WHOLE, product_port, rows_port};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        stem: "mul_mat",
        name: "vec",
        exact: true,
        port: product_port,
        symbols: FEW,
        tolerance: None,
        runs_on: |_| true,
        build: product::few_columns,
    },
    Variant {
        stem: "mul_mat",
        name: "tile",
        exact: true,
        port: rows_port,
        symbols: WHOLE,
        tolerance: None,
        runs_on: |_| true,
        build: product::tiles,
    },
    Variant::any("mul_mat", product::any),
    Variant::any("mul_mat_id", id::any),
];
