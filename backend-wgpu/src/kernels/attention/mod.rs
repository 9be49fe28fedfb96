//! Attention: softmax over cached cells.

mod split;
mod tile;

use super::{Build, Launch, Variant};
use weft_core::contract::{
    Allowed, Extent,
    Port,
    Stride::{Any, AtLeastPacked, Packed},
    Symbol,
};
use weft_core::graph::DType;

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    cached("f16", half_port),
    cached("f32", float_port),
    cached("q8_0", byte_port),
    Variant::any("flash_attention", any),
];

/// Widths of heads that the fast forms are written for.
const WIDTHS: &[Symbol] = &[Symbol { name: "D", allowed: Allowed::OneOf(&[64, 128, 256]) }];

/// Exact forms for segments over caches of one type.
const fn cached(name: &'static str, port: fn(Port) -> Port) -> Variant {
    Variant { name, port, symbols: WIDTHS, ..Variant::any("flash_attention", fast) }
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

/// Rows in whole words of 16 bytes (blocks: of 4), keys and values of one width, segments and no mask.
fn narrowed(port: Port, dtypes: &'static [DType], alignment: u64) -> Port {
    match port.name {
        "k" | "v" => {
            let mut shape = port.shape;
            shape[0] = Extent::Named("D");
            Port { dtypes, shape, ..port }.strides([Packed, Any, Any, Any]).aligned(alignment)
        }
        "mask" | "sinks" => Port { dtypes: &[], ..port },
        "segments" => Port { optional: false, ..port },
        "out" => {
            let mut shape = port.shape;
            shape[0] = Extent::Named("D");
            Port { shape, ..port }.strides([Packed, AtLeastPacked, AtLeastPacked, AtLeastPacked]).aligned(16)
        }
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

/// Tokens up to this number are attended to one by one.
const FEW: u32 = 8;
/// Tokens up to this number, if they are of many sequences: a tile would hold few of each.
const SCATTERED: u32 = 64;

/// Few tokens, and scattered ones, are split over cells; others form tiles.
fn fast(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [_, tokens, ..] = build.shape("q")?;
    let [_, segments, ..] = build.shape("segments")?;
    if tokens <= FEW || (tokens <= SCATTERED && tokens <= 4 * segments) {
        split::launches(build)
    } else {
        tile::launches(build)
    }
}

/// An unsigned number as shaders write it.
fn number(value: u32) -> String {
    format!("{value}u")
}
