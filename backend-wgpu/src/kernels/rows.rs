//! Kernels that reduce along rows.

use super::experts::sum_port;
use super::{Build, Launch, Variant};
use crate::adapter::Caps;
use weft_core::contract::{Access, Allowed, F32, Port, Stride, Symbol};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    rows("rms_norm", WIDTHS),
    Variant::any("rms_norm", group_a_row),
    rows("add_rms_norm", WIDTHS),
    Variant::any("add_rms_norm", group_a_row),
    Variant { port: sum_port, ..rows("expert_sum_norm", WIDTHS) },
    Variant { port: streams_port, ..rows("combine_norm", WIDTHS) },
    Variant::any("combine_norm", group_a_row),
    rows("gated_norm", WIDTHS),
    Variant::any("gated_norm", group_a_row),
    rows("softmax", LENGTHS),
    Variant::any("softmax", group_a_row),
    Variant::any("l2_norm", group_a_row),
    Variant::any("sum_rows", group_a_row),
    Variant::any("finite", group_a_row),
    Variant::any("cumsum", group_a_row),
];

const WHOLE: Allowed = Allowed::MultipleOf(4, 1 << 32);
const WIDTHS: &[Symbol] = &[Symbol { name: "D", allowed: WHOLE }];
const LENGTHS: &[Symbol] = &[Symbol { name: "N0", allowed: WHOLE }];

/// A variant whose rows are whole groups of four floats.
const fn rows(stem: &'static str, symbols: &'static [Symbol]) -> Variant {
    Variant { name: "rows", port: quads, symbols, ..Variant::any(stem, lanes_a_row) }
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

/// One workgroup a row.
fn group_a_row(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.rows("out")?)])
}

/// How invocations share rows.
struct Shares {
    /// Invocations of a workgroup.
    size: u32,
    /// Invocations of a row; divides the size.
    lanes: u32,
    /// Groups of four that an invocation keeps in registers; longer rows are read again.
    held: u32,
}

impl Shares {
    /// Rows of so many groups of four. Few long rows are worth the largest workgroups, many fill the device anyway.
    fn new(quads: u32, rows: u32, caps: &Caps) -> Self {
        match quads {
            0..=32 => Shares { size: 64, lanes: 32, held: 1 },
            33..=64 => Shares { size: 64, lanes: 64, held: 1 },
            257.. if rows <= FEW_ROWS && caps.invocations >= 1024 => {
                Shares { size: 1024, lanes: 1024, held: 2 }
            }
            _ => Shares { size: 256, lanes: 256, held: 5 },
        }
    }
}

/// Up to so many rows a device has more room than work.
const FEW_ROWS: u32 = 32;

/// Some invocations a row, all of one workgroup.
fn lanes_a_row(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let rows = build.rows("out")?;
    let Shares { size, lanes, held } = Shares::new(build.shape("out")?[0] / 4, rows, build.caps);
    let least = build.caps.subgroups.map_or(0, |(least, _)| least);
    // A row in one subgroup, or in all those of a workgroup.
    let shuffle = least >= lanes;
    let launch = Launch::flat(rows.div_ceil(size / lanes))
        .flag("rows", true)
        .flag("shuffle", shuffle)
        .flag("subgroups", shuffle || (least > 0 && lanes == size))
        .define("size", format!("{size}u"))
        .define("lanes", format!("{lanes}u"))
        .define("held", format!("{held}u"));
    Ok(vec![launch])
}
