//! What fast products narrow, and how they look at weights.

use crate::adapter::Caps;
use crate::kernels::{Build, Launch, MOST_GROUPS};
use weft_core::contract::{ANY_WEIGHT, Allowed, COMMON, Extent, F32, FEW_BITS, Port, Stride, Symbol};
use weft_core::graph::{DType, Layout};

/// Values that rows are taken by.
const VALUES: u64 = 32;
const WHOLE_ROWS: Symbol = Symbol { name: "I", allowed: Allowed::MultipleOf(VALUES, 1 << 30) };
/// Rows of whole pieces.
pub(super) const WHOLE: &[Symbol] = &[WHOLE_ROWS];
/// And few tokens.
pub(super) const FEW: &[Symbol] =
    &[WHOLE_ROWS, Symbol { name: "T", allowed: Allowed::Between(1, MOST_COLUMNS) }];
/// And one token.
pub(super) const ONE: &[Symbol] = &[WHOLE_ROWS, Symbol { name: "T", allowed: Allowed::Between(1, 1) }];
/// Rows for matrix units.
pub(super) const WHOLE_TURNS: &[Symbol] = &[Symbol { name: "I", allowed: Allowed::MultipleOf(64, 1 << 30) }];
/// Columns that a product of vectors takes.
const MOST_COLUMNS: u64 = 8;

/// Packed rows at any distance: of weights anywhere, of activations where four floats can be loaded at once.
pub(super) fn rows_port(port: Port) -> Port {
    match port.name {
        "weight" => port.packed_rows(),
        "x" => Port { dtypes: F32, ..port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]) }
            .aligned(16),
        "out" => port.packed_rows().aligned(4),
        _ => port,
    }
}

/// One matrix of weights, one plane of columns.
pub(super) fn product_port(port: Port) -> Port {
    let mut port = rows_port(port);
    port.shape[2] = Extent::Is(1);
    port.shape[3] = Extent::Is(1);
    port
}

/// Ports of products on matrix units: types of few bits go without.
pub(super) fn matrix_port(port: Port) -> Port {
    if port.dtypes == ANY_WEIGHT { Port { dtypes: COMMON, ..rows_port(port) } } else { rows_port(port) }
}

/// The same for one matrix of weights, one plane of columns.
pub(super) fn matrix_plane(port: Port) -> Port {
    let narrowed = product_port(port);
    Port { dtypes: matrix_port(port).dtypes, ..narrowed }
}

/// Whether a device runs products on matrix units: subgroups of 32 threads, and room for two tiles of halves.
pub(super) fn has_matrices(caps: &Caps) -> bool {
    caps.matrices
        && caps.subgroups == Some((32, 32))
        && caps.workgroup_bytes >= MATRIX_BYTES
        && caps.invocations >= 256
}

/// Workgroup memory of a product on matrix units.
const MATRIX_BYTES: u32 = 2 * 128 * 18 * 8 + 8 * 256 * 4;

/// Vectors of four values in a run of a unit.
pub(super) const fn quads(dtype: DType) -> u64 {
    match dtype {
        DType::F32 => 1,
        DType::F16 | DType::BF16 => 2,
        _ => 4,
    }
}

/// Values in a unit: what 16 bytes of levels hold as a shader takes them.
fn unit(dtype: DType) -> u64 {
    match dtype {
        few if FEW_BITS.contains(&few) => 16,
        DType::F32 => 4,
        DType::F16 | DType::BF16 => 8,
        DType::Q8_0 => 16,
        _ => 32,
    }
}

/// Whether every part of a weight can be loaded 16 bytes at a time.
pub(super) fn is_wide(build: &Build<'_>, port: &str, weight: &Layout) -> bool {
    let whole = weight.dtype.block_bytes().is_multiple_of(16) || !weight.dtype.is_quantised();
    let along = |dim: usize| weight.shape[dim] <= 1 || weight.strides[dim].is_multiple_of(16);
    build.packing(port).is_some() || (whole && weight.offset.is_multiple_of(16) && (1..4).all(along))
}

/// The definitions of `weight.wgsl` for a port that the shader knows by `name`.
pub(in crate::kernels) fn weight(
    launch: Launch,
    build: &Build<'_>,
    port: &str,
    name: &str,
    layout: &Layout,
) -> Launch {
    launch
        .define(&format!("{name}_quads"), quads(layout.dtype))
        .flag(&format!("{name}_wide"), is_wide(build, port, layout))
}

/// How threads share the rows of a weight in a product with vectors: teams of them compute some rows each.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernels) struct Teams {
    /// Threads of a team.
    lanes: u32,
    /// Teams of a workgroup.
    teams: u32,
    /// Rows of a team.
    rows: u32,
    subgroups: bool,
}

/// Threads of a team, at most.
const MOST_LANES: u64 = 192;
/// Threads of a workgroup, at least.
const LEAST_THREADS: u32 = 128;

impl Teams {
    /// For rows of `width` values. Lanes follow from the rows' length alone, so that the number of columns never changes a
    /// result.
    pub(in crate::kernels) fn new(build: &Build<'_>, weight: &Layout, rows: u64, columns: u32) -> Self {
        let (subgroups, grain) = match build.caps.subgroups {
            // A subgroup lies in one team.
            Some((least, most)) if least >= 4 && most <= LEAST_THREADS => (true, u64::from(most.max(32))),
            _ => (false, 32),
        };
        let units = (weight.shape[0] / unit(weight.dtype)).max(1);
        let turns = units.div_ceil(MOST_LANES);
        let lanes = units.div_ceil(turns).next_multiple_of(grain) as u32;
        // Many columns leave registers for few rows, as do types that decode two runs at once; few rows need many
        // workgroups.
        let small = unit(weight.dtype) <= 16;
        let rows = match columns {
            // A row is decoded by a long text; one driver on the CPU takes gigabytes to compile four of them.
            _ if FEW_BITS.contains(&weight.dtype) => 2,
            1 | 2 if rows >= 8192 && small => 8,
            1..=4 if rows >= 4096 => 4,
            _ => 2,
        };
        Teams { lanes, teams: (LEAST_THREADS / lanes).max(1), rows, subgroups }
    }

    /// The same with few rows where weights are loaded byte by byte: their text is long, and one driver on the CPU takes
    /// gigabytes to compile eight of them.
    pub(in crate::kernels) fn if_wide(self, wide: bool) -> Self {
        if wide { self } else { Teams { rows: 2, ..self } }
    }

    /// Rows of a workgroup.
    pub(in crate::kernels) fn rows(&self) -> u64 {
        u64::from(self.teams * self.rows)
    }

    /// The definitions of `dot_rows.wgsl` for this many columns.
    pub(in crate::kernels) fn define(&self, launch: Launch, columns: u32) -> Launch {
        launch
            .define("lanes", format!("{}u", self.lanes))
            .define("teams", format!("{}u", self.teams))
            .define("rows", format!("{}u", self.rows))
            .define("columns", format!("{columns}u"))
            .flag("columns2", columns >= 2)
            .flag("columns4", columns >= 4)
            .flag("columns8", columns >= 8)
            .flag("rows4", self.rows >= 4)
            .flag("rows8", self.rows >= 8)
            .flag("subgroups", self.subgroups)
    }
}

/// Rows and columns of a tile.
pub(super) const TILE: u64 = 64;
/// Rows and columns of a tile on matrix units.
pub(super) const MATRIX_TILE: u64 = 128;

/// A number of workgroups in one dimension.
///
/// # Errors
/// More than one dimension takes.
pub(super) fn limited(groups: u64) -> Result<u32, String> {
    u32::try_from(groups)
        .ok()
        .filter(|n| *n <= MOST_GROUPS)
        .ok_or_else(|| format!("{groups} workgroups in one dimension"))
}
