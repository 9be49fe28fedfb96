//! Kernels that move rows and elements, by index or in order.

mod order;
mod windows;

use super::{Build, Launch, Variant};
use weft_core::contract::Extent::Named;
use weft_core::contract::{Allowed, F32, Port, Stride, Symbol, Tolerance};
use weft_core::graph::DType;
use windows::{Follower, windows};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "rows",
        port: copy_rows_port,
        symbols: &[Symbol { name: "N0", allowed: Allowed::MultipleOf(4, u32::MAX as u64) }],
        ..Variant::any("copy", copy_rows)
    },
    Variant::any("copy", copy),
    Variant::any("concat", concat),
    Variant {
        name: "vectors",
        port: get_vectors_port,
        symbols: &[Symbol { name: "D", allowed: Allowed::MultipleOf(4, u32::MAX as u64) }],
        tolerance: Some(DECODED),
        ..Variant::any("get_rows", get_vectors)
    },
    Variant { tolerance: Some(DECODED), ..Variant::any("get_rows", get_rows) },
    Variant {
        name: "words",
        port: set_words_port,
        symbols: &[Symbol { name: "D", allowed: Allowed::MultipleOf(2, u32::MAX as u64) }],
        ..Variant::any("set_rows", set_words)
    },
    Variant {
        name: "blocks",
        port: set_blocks_port,
        symbols: &[Symbol { name: "D", allowed: Allowed::MultipleOf(64, u32::MAX as u64) }],
        ..Variant::any("set_rows", set_blocks)
    },
    Variant::any("set_rows", set_rows),
    Variant::any("argsort", argsort),
    Variant::any("top_k", order::top_k),
    Variant::any("solve_tri", solve_tri),
];

/// Values of blocks are products and sums that a driver may contract, with one rounding less than the reference.
const DECODED: Tolerance = Tolerance { nmse_row: 1e-13, max_abs: 2.5e-7 };

/// Rows in a piece, at any distance.
const ROWS: [Stride; 4] = [Stride::Packed, Stride::Any, Stride::Any, Stride::Any];

/// One invocation an element, or a block of a result that consists of blocks.
fn copy(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let out = build.layout("out")?.dtype;
    let units = build.elements("out")? / out.block_values() as u32;
    Ok(vec![Launch::flat(units.div_ceil(256)).flag("blocks", out.is_quantised())])
}

fn copy_rows_port(port: Port) -> Port {
    let port = port.shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]).aligned(16);
    match port.name {
        "x" => Port { dtypes: F32, ..port }.strides(ROWS),
        _ => Port { dtypes: &[DType::F32, DType::F16], ..port }.packed_rows(),
    }
}

/// One invocation four elements.
fn copy_rows(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat((build.elements("x")? / 4).div_ceil(256)).flag("rows", true)])
}

fn concat(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.elements("out")?.div_ceil(256))])
}

fn argsort(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::flat(build.elements("x")?.div_ceil(256))])
}

/// One invocation a column. Scratch memory holds the solution with twice the precision.
fn solve_tri(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [m, n, b, c] = build.layout("out")?.shape;
    let columns = if n == 0 { 0 } else { m * b * c };
    let columns = u32::try_from(columns).map_err(|_| "more than 2^32 columns".to_owned())?;
    build.scratch = 8 * u64::from(columns) * n;
    Ok(vec![Launch::flat(columns.div_ceil(64))])
}

/// Where the planes of `get_rows` lie in its other ports.
const GET: &[Follower] = &[Follower { port: "rows", dim: 1 }, Follower { port: "out", dim: 2 }];
/// Where the planes of `set_rows` lie in its other ports.
const SET: &[Follower] = &[Follower { port: "rows", dim: 1 }, Follower { port: "x", dim: 2 }];

/// One invocation an element.
fn get_rows(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let make = |launch: &[u64; 4]| launch.iter().product::<u64>().div_ceil(256);
    windows(build, "table", GET, "out", make)
}

fn get_vectors_port(port: Port) -> Port {
    match port.name {
        "table" => Port { dtypes: &[DType::F16, DType::Q8_0, DType::Q4_K], ..port }.strides(ROWS),
        "out" => Port { dtypes: F32, ..port }.packed_rows().aligned(16),
        _ => port,
    }
}

/// One workgroup a row.
fn get_vectors(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let all = windows(build, "table", GET, "out", rows_of)?;
    Ok(all.into_iter().map(|launch| launch.flag("vectors", true)).collect())
}

fn rows_of(shape: &[u64; 4]) -> u64 {
    if shape[0] == 0 { 0 } else { shape[1..].iter().product() }
}

/// One workgroup a row.
fn set_rows(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let blocks = build.layout("out")?.dtype.is_quantised();
    let all = windows(build, "out", SET, "x", rows_of)?;
    Ok(all.into_iter().map(|launch| launch.define("lanes", "64u").flag("blocks", blocks)).collect())
}

fn set_words_port(port: Port) -> Port {
    match port.name {
        "x" => Port { dtypes: F32, ..port }.strides(ROWS).aligned(4),
        "out" => Port { dtypes: &[DType::F32, DType::F16], ..port }.packed_rows().aligned(4),
        _ => port,
    }
}

/// One workgroup a row, one invocation a word.
fn set_words(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    in_words(build, "rows_of_words")
}

fn in_words(build: &mut Build<'_>, form: &str) -> Result<Vec<Launch>, String> {
    let all = windows(build, "out", SET, "x", rows_of)?;
    let words = |launch: Launch| launch.define("lanes", "64u").flag("in_words", true).flag(form, true);
    Ok(all.into_iter().map(words).collect())
}

fn set_blocks_port(port: Port) -> Port {
    let port = set_words_port(port);
    if port.name == "out" { Port { dtypes: &[DType::Q8_0, DType::Q4_0], ..port } } else { port }
}

/// The same with pairs of blocks, which are whole words.
fn set_blocks(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    in_words(build, "words_of_blocks")
}
