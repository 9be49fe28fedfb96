//! Attention: softmax over cached cells.

mod blocks;
mod matrix;
mod split;
#[cfg(test)]
mod tests;
mod tile;

use super::{Build, Launch, Variant};
use crate::adapter::Caps;
use weft_core::contract::{
    Allowed, Extent, Port,
    Stride::{Any, Packed},
    Symbol, Tolerance,
};
use weft_core::graph::DType;

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    matrices(PLAIN, "matrix", half_port),
    matrices(PLAIN, "matrix_q8_0", byte_port),
    matrices(PLAIN, "matrix_q4_0", nibble_port),
    cached(PLAIN, "f16", half_port),
    cached(PLAIN, "f32", float_port),
    cached(PLAIN, "q8_0", byte_port),
    cached(PLAIN, "q4_0", nibble_port),
    Variant::any(PLAIN, any),
    matrices(GATED, "matrix", half_port),
    matrices(GATED, "matrix_q8_0", byte_port),
    matrices(GATED, "matrix_q4_0", nibble_port),
    cached(GATED, "f16", half_port),
    cached(GATED, "f32", float_port),
    cached(GATED, "q8_0", byte_port),
    cached(GATED, "q4_0", nibble_port),
    Variant::any(GATED, any),
    Variant::any("block_attention", blocks::launches),
    Variant::any("block_scores", scores),
];

const PLAIN: &str = "flash_attention";
const GATED: &str = "gated_attention";

/// Widths of heads that the fast forms are written for.
const WIDTHS: &[Symbol] = &[Symbol { name: "D", allowed: Allowed::OneOf(&[64, 128, 256]) }];

/// Exact forms for segments over caches of one type.
const fn cached(stem: &'static str, name: &'static str, port: fn(Port) -> Port) -> Variant {
    Variant { name, port, symbols: WIDTHS, ..Variant::any(stem, fast) }
}

/// A form that rounds to sixteen bits what it multiplies.
const fn matrices(stem: &'static str, name: &'static str, port: fn(Port) -> Port) -> Variant {
    Variant {
        exact: false,
        tolerance: Some(Tolerance::EIGHT_BIT),
        runs_on: has_matrices,
        build: with_matrices,
        ..cached(stem, name, port)
    }
}

/// Whether a device has matrices, subgroups of the width that the shader counts on, and enough workgroup memory.
fn has_matrices(caps: &Caps) -> bool {
    caps.matrices && caps.half && caps.subgroups == Some((32, 32)) && caps.workgroup_bytes >= 32_768
}

fn half_port(port: Port) -> Port {
    narrowed(port, &[DType::F16], 16)
}

fn float_port(port: Port) -> Port {
    narrowed(port, &[DType::F32], 16)
}

fn byte_port(port: Port) -> Port {
    narrowed(port, &[DType::Q8_0], 4)
}

fn nibble_port(port: Port) -> Port {
    narrowed(port, &[DType::Q4_0], 4)
}

/// Rows in whole words of 16 bytes (blocks: of 4), keys and values of one width, segments and no mask.
fn narrowed(port: Port, dtypes: &'static [DType], alignment: u64) -> Port {
    let mut shape = port.shape;
    if shape[0] == Extent::Named("E") {
        shape[0] = Extent::Named("D");
    }
    let port = Port { shape, ..port };
    match port.name {
        "k" | "v" => Port { dtypes, ..port }.strides([Packed, Any, Any, Any]).aligned(alignment),
        "mask" | "sinks" => Port { dtypes: &[], ..port },
        "segments" => Port { optional: false, ..port },
        "out" => port.packed_rows().aligned(16),
        _ => port.strides([Packed, Any, Any, Any]).aligned(16),
    }
}

/// Columns of values that a workgroup of the general form computes.
const COLUMNS: u32 = 256;

/// A workgroup for each row of results, and for each 256 columns of it.
fn any(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [width, ..] = build.shape("out")?;
    let groups = build.rows("out")?.checked_mul(width.div_ceil(COLUMNS)).ok_or("too many rows of results")?;
    Ok(vec![Launch::flat(groups).flag("any", true)])
}

/// One invocation an element.
fn scores(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.elements("out")?.div_ceil(256))])
}

/// Tokens up to this number are attended to one by one.
const FEW: u32 = 8;
/// Tokens up to this number, if they are of many sequences: a tile would hold few of each.
const SCATTERED: u32 = 64;

/// Whether tokens are few, or scattered: then they are split over cells.
fn is_split(build: &Build<'_>) -> Result<bool, String> {
    let [_, tokens, ..] = build.shape("q")?;
    let [_, segments, ..] = build.shape("segments")?;
    Ok(tokens <= FEW || (tokens <= SCATTERED && tokens <= 4 * segments))
}

fn fast(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    if is_split(build)? { split::launches(build) } else { tile::launches(build, false) }
}

fn with_matrices(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    if is_split(build)? { split::launches(build) } else { tile::launches(build, true) }
}

/// An unsigned number as shaders write it.
fn number(value: u32) -> String {
    format!("{value}u")
}
