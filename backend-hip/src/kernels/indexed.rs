//! Kernels that move rows and elements, by index or in order.

use super::elementwise::{FOLDED, elements_of_out, quads_of_out};
use super::{Build, Launch, Scalars, Variant};
use weft_core::contract::Extent::Named;
use weft_core::contract::{Allowed, F32, Port, Stride, Symbol};
use weft_core::graph::DType;

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "rows",
        port: copy_rows_port,
        symbols: &[Symbol { name: "N0", allowed: Allowed::MultipleOf(4, 1 << 32) }],
        ..Variant::any("copy", |build| quads_of_out(build, "copy_rows"))
    },
    Variant::any("copy", |build| elements_of_out(build, "copy_any")),
    Variant::any("concat", |build| elements_of_out(build, "concat_any")),
    Variant::any("get_rows", |build| elements_of_out(build, "get_rows_any")),
    Variant::any("set_rows", set_rows),
    Variant::any("argsort", |build| elements_of_out(build, "argsort_any")),
    Variant::any("top_k", top_k),
    Variant::any("solve_tri", solve_tri),
    Variant::any("conv_history", conv_history),
];

pub(super) const SCALARS: Scalars = &[
    ("copy", FOLDED),
    ("concat", FOLDED),
    ("get_rows", FOLDED),
    ("argsort", FOLDED),
    ("top_k", FOLDED),
    ("solve_tri", FOLDED),
    ("conv_history", FOLDED),
];

fn copy_rows_port(port: Port) -> Port {
    let port = port.shape([Named("N0"), Named("N1"), Named("N2"), Named("N3")]).aligned(16);
    match port.name {
        "x" => {
            let rows = [Stride::Packed, Stride::Any, Stride::Any, Stride::Any];
            Port { dtypes: F32, ..port }.strides(rows)
        }
        _ => Port { dtypes: &[DType::F32, DType::F16], ..port }.packed_rows(),
    }
}

/// One block a row.
fn set_rows(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    Ok(vec![Launch::grid("set_rows_any", [build.rows("x")?, 1, 1], 256)])
}

/// Values of a row of which the threads of one block hold one each.
const MOST_FEW: u32 = 1024;

/// Of short rows each value counts those before it, a block a row and a thread a value. Of others one block a row finds the
/// largest, then one thread each orders them; scratch memory holds their indices.
fn top_k(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (width, rows, all) = (build.shape("x")?[0], build.rows("x")?, build.elements("out")?);
    if width <= MOST_FEW {
        return Ok(vec![Launch::grid("top_k_few", [rows, 1, 1], width.next_multiple_of(32))]);
    }
    build.scratch = 4 * all;
    Ok(vec![Launch::grid("top_k_any", [rows, 1, 1], 256), Launch::threads("top_k_order", all)?])
}

/// One thread a column. Scratch memory holds the solution with twice the precision.
fn solve_tri(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [m, n, b, c] = build.layout("out")?.shape;
    let columns = if n == 0 { 0 } else { m * b * c };
    build.scratch = 8 * columns * n;
    Ok(vec![Launch::threads("solve_tri_any", columns)?])
}

/// One thread a channel and a segment.
fn conv_history(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (channels, segments) = (build.layout("x")?.shape[0], build.layout("segments")?.shape[1]);
    Ok(vec![Launch::threads("conv_history_any", channels * segments)?])
}
