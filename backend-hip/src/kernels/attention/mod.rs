//! Attention over cached keys and values, plain and gated.

mod blocks;
mod split;
mod tile;

use super::elementwise::FOLDED;
use super::{Build, Launch, Scalars, Variant};
use weft_core::contract::{Allowed, Extent, Port, Stride, Symbol, Tolerance};
use weft_core::graph::DType;

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    matrices(PLAIN, "matrix", half_port, |build| fast(build, PLAIN, true)),
    matrices(PLAIN, "matrix_q8_0", byte_port, |build| fast(build, PLAIN, true)),
    matrices(PLAIN, "matrix_q4_0", nibble_port, |build| fast(build, PLAIN, true)),
    cached(PLAIN, "f16", half_port, |build| fast(build, PLAIN, false)),
    cached(PLAIN, "f32", float_port, |build| fast(build, PLAIN, false)),
    cached(PLAIN, "q8_0", byte_port, |build| fast(build, PLAIN, false)),
    cached(PLAIN, "q4_0", nibble_port, |build| fast(build, PLAIN, false)),
    Variant::any(PLAIN, |build| any(build, PLAIN)),
    matrices(GATED, "matrix", half_port, |build| fast(build, GATED, true)),
    matrices(GATED, "matrix_q8_0", byte_port, |build| fast(build, GATED, true)),
    matrices(GATED, "matrix_q4_0", nibble_port, |build| fast(build, GATED, true)),
    cached(GATED, "f16", half_port, |build| fast(build, GATED, false)),
    cached(GATED, "f32", float_port, |build| fast(build, GATED, false)),
    cached(GATED, "q8_0", byte_port, |build| fast(build, GATED, false)),
    cached(GATED, "q4_0", nibble_port, |build| fast(build, GATED, false)),
    Variant::any(GATED, |build| any(build, GATED)),
    Variant::any(BLOCKS, blocks::launches),
    Variant::any(SCORES, scores),
];

pub(super) const SCALARS: Scalars =
    &[(PLAIN, INTEGERS), (GATED, INTEGERS), (BLOCKS, &["groups_x", "chunks"]), (SCORES, FOLDED)];

/// Chunks of cells; batches of the query heads that share a key/value head; heads and tokens of a tile; and whether chunks
/// are those of tiles.
const INTEGERS: &[&str] = &["groups_x", "chunks", "batches", "tile_heads", "tile_tokens", "tiled"];

const PLAIN: &str = "flash_attention";
const GATED: &str = "gated_attention";
const BLOCKS: &str = "block_attention";
const SCORES: &str = "block_scores";

type Builder = fn(&mut Build<'_>) -> Result<Vec<Launch>, String>;

/// Widths of heads that the fast forms are written for.
const WIDTHS: &[Symbol] = &[Symbol { name: "D", allowed: Allowed::OneOf(&[64, 128, 256]) }];

/// Exact forms for segments over caches of one type.
const fn cached(stem: &'static str, name: &'static str, port: fn(Port) -> Port, build: Builder) -> Variant {
    Variant { name, port, symbols: WIDTHS, ..Variant::any(stem, build) }
}

/// A form that rounds to sixteen bits what it multiplies.
const fn matrices(stem: &'static str, name: &'static str, port: fn(Port) -> Port, build: Builder) -> Variant {
    let tolerance = Some(Tolerance::EIGHT_BIT);
    Variant { exact: false, tolerance, ..cached(stem, name, port, build) }
}

fn half_port(port: Port) -> Port {
    narrowed(port, &[DType::F16], 16)
}

fn float_port(port: Port) -> Port {
    narrowed(port, &[DType::F32], 16)
}

fn byte_port(port: Port) -> Port {
    narrowed(port, &[DType::Q8_0], 2)
}

fn nibble_port(port: Port) -> Port {
    narrowed(port, &[DType::Q4_0], 2)
}

/// Rows in whole words of 16 bytes (blocks: of 2), keys and values of one width, segments and no mask.
fn narrowed(port: Port, dtypes: &'static [DType], alignment: u64) -> Port {
    let mut shape = port.shape;
    if shape[0] == Extent::Named("E") {
        shape[0] = Extent::Named("D");
    }
    let port = Port { shape, ..port };
    let rows = [Stride::Packed, Stride::Any, Stride::Any, Stride::Any];
    match port.name {
        "k" | "v" => Port { dtypes, ..port }.strides(rows).aligned(alignment),
        "mask" | "sinks" => Port { dtypes: &[], ..port },
        "segments" => Port { optional: false, ..port },
        "out" => port.packed_rows().aligned(16),
        _ => port.strides(rows).aligned(16),
    }
}

/// Columns of values that a block of the general form computes, and its threads.
const COLUMNS: u32 = 256;

/// A block for each row of results, and for each 256 columns of it.
fn any(build: &mut Build<'_>, stem: &str) -> Result<Vec<Launch>, String> {
    let [width, ..] = build.shape("out")?;
    let blocks = u64::from(build.rows("out")?) * u64::from(width.div_ceil(COLUMNS));
    Ok(vec![Launch::threads(format!("{stem}_any"), blocks * u64::from(COLUMNS))?])
}

/// A wave an element.
fn scores(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::threads("block_scores_any", build.elements("out")? * 32)?])
}

/// Tokens up to this number are attended to one by one.
const FEW: u32 = 8;
/// Tokens up to this number, if they are of many sequences: a tile would hold few of each.
const SCATTERED: u32 = 64;

fn fast(build: &mut Build<'_>, stem: &'static str, matrices: bool) -> Result<Vec<Launch>, String> {
    let ([_, tokens, heads, _], [_, segments, ..]) = (build.shape("q")?, build.shape("segments")?);
    if heads == 0 || build.packing("k").is_some() || build.packing("v").is_some() {
        return any(build, stem);
    }
    if tokens <= FEW || (tokens <= SCATTERED && tokens <= 4 * segments) {
        split::launches(build, stem)
    } else {
        tile::launches(build, stem, matrices)
    }
}

/// The type of the cache in names of functions.
fn cache(build: &Build<'_>) -> Result<&'static str, String> {
    match build.layout("k")?.dtype {
        DType::F16 => Ok("f16"),
        DType::Q8_0 => Ok("q8_0"),
        DType::Q4_0 => Ok("q4_0"),
        _ => Ok("f32"),
    }
}
