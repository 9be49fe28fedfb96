//! Attention: softmax over cached cells.

mod split;

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

/// Single tokens are split over cells.
fn fast(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    split::launches(build)
}
