//! Kernels that reduce along rows.

use super::experts::sum_port;
use super::{Build, Launch, Scalars, Variant};
use weft_core::contract::{Access, Allowed, F32, Port, Stride, Symbol};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    rows("rms_norm", WIDTHS, |build| shared(build, "rms_norm", 2)),
    Variant::any("rms_norm", |build| block_a_row(build, "rms_norm_any")),
    rows("add_rms_norm", WIDTHS, |build| shared(build, "add_rms_norm", 2)),
    Variant::any("add_rms_norm", |build| block_a_row(build, "add_rms_norm_any")),
    Variant {
        port: sum_port,
        ..rows("expert_sum_norm", WIDTHS, |build| shared(build, "expert_sum_norm", 2))
    },
    Variant { port: streams_port, ..rows("combine_norm", WIDTHS, |build| shared(build, "combine_norm", 2)) },
    Variant::any("combine_norm", |build| block_a_row(build, "combine_norm_any")),
    rows("gated_norm", WIDTHS, |build| shared(build, "gated_norm", 2)),
    Variant::any("gated_norm", |build| block_a_row(build, "gated_norm_any")),
    rows("softmax", LENGTHS, |build| shared(build, "softmax", 4)),
    Variant::any("softmax", |build| block_a_row(build, "softmax_any")),
    Variant::any("l2_norm", |build| block_a_row(build, "l2_norm_any")),
    Variant::any("sum_rows", |build| block_a_row(build, "sum_rows_any")),
    Variant::any("finite", |build| block_a_row(build, "finite_any")),
    Variant::any("cumsum", |build| block_a_row(build, "cumsum_any")),
];

pub(super) const SCALARS: Scalars = &[];

const WHOLE: Allowed = Allowed::MultipleOf(4, 1 << 32);
const WIDTHS: &[Symbol] = &[Symbol { name: "D", allowed: WHOLE }];
const LENGTHS: &[Symbol] = &[Symbol { name: "N0", allowed: WHOLE }];

/// A variant whose rows are whole groups of four floats.
const fn rows(
    stem: &'static str,
    symbols: &'static [Symbol],
    build: fn(&mut Build<'_>) -> Result<Vec<Launch>, String>,
) -> Variant {
    Variant { name: "rows", port: quads, symbols, ..Variant::any(stem, build) }
}

/// A port of floats whose rows are addressed as groups of four. What is only read may be repeated.
pub(super) fn quads(port: Port) -> Port {
    let port = Port { dtypes: F32, ..port }.aligned(16);
    match port.access {
        Access::Read => port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]),
        Access::Write | Access::Update => port.packed_rows(),
    }
}

/// Streams in groups of four; their shares anywhere.
fn streams_port(port: Port) -> Port {
    if port.name == "shares" { port } else { quads(port) }
}

/// Rows of the result; none where they are empty.
fn rows_of_out(build: &Build<'_>) -> Result<u32, String> {
    if build.elements("out")? == 0 { Ok(0) } else { build.rows("out") }
}

/// One block a row.
fn block_a_row(build: &mut Build<'_>, function: &str) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::grid(function, [rows_of_out(build)?, 1, 1], 256)])
}

/// Rows that a block of the form for short rows serves, a wave each.
const WAVES: u32 = 4;

/// A wave a row where its lanes hold the row in so many groups of four each, else a block a row.
fn shared(build: &mut Build<'_>, stem: &str, held: u64) -> Result<Vec<Launch>, String> {
    let rows = rows_of_out(build)?;
    let short = build.layout("out")?.shape[0] / 4 <= 32 * held;
    Ok(vec![if short {
        Launch::grid(format!("{stem}_wave"), [rows.div_ceil(WAVES), 1, 1], 32 * WAVES)
    } else {
        Launch::grid(format!("{stem}_block"), [rows, 1, 1], 256)
    }])
}
