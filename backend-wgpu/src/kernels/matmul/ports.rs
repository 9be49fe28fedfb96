//! What fast products narrow, and how they look at weights.

use crate::kernels::{Build, Launch, MOST_GROUPS};
use weft_core::contract::{Allowed, Extent, F32, Port, Stride, Symbol};
use weft_core::graph::{DType, Layout};

/// Values that rows are taken by.
const VALUES: u64 = 32;
const WHOLE_ROWS: Symbol = Symbol { name: "I", allowed: Allowed::MultipleOf(VALUES, 1 << 30) };
/// Rows of whole pieces.
pub(super) const WHOLE: &[Symbol] = &[WHOLE_ROWS];
/// And few tokens.
pub(super) const FEW: &[Symbol] =
    &[WHOLE_ROWS, Symbol { name: "T", allowed: Allowed::Between(1, MOST_COLUMNS) }];
/// Columns that a product of vectors takes.
const MOST_COLUMNS: u64 = 8;

/// Packed rows at any distance: of weights anywhere, of activations where four floats can be loaded at once.
pub(super) fn rows_port(port: Port) -> Port {
    match port.name {
        "weight" => port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]),
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

/// Values in a unit: what 16 bytes of levels hold.
pub(super) const fn unit(dtype: DType) -> u32 {
    match dtype {
        DType::F32 => 4,
        DType::F16 | DType::BF16 => 8,
        DType::Q8_0 => 16,
        _ => 32,
    }
}

/// Whether every part of a weight can be loaded 16 bytes at a time.
fn is_wide(build: &Build<'_>, weight: &Layout) -> bool {
    let whole = weight.dtype.block_bytes().is_multiple_of(16) || !weight.dtype.is_quantised();
    let along = |dim: usize| weight.shape[dim] <= 1 || weight.strides[dim].is_multiple_of(16);
    build.packing("weight").is_some() || (whole && weight.offset.is_multiple_of(16) && (1..4).all(along))
}

/// The part of a launch's definitions that weights decide.
pub(super) fn weights(launch: Launch, build: &Build<'_>, weight: &Layout) -> Launch {
    launch.flag("wide", is_wide(build, weight))
}

/// Threads of a workgroup that multiplies vectors.
const THREADS: u32 = 128;
/// Rows of weights that a team of threads computes at once.
const TEAM_ROWS: u32 = 4;

/// How threads share the rows of a weight in a product of vectors.
pub(super) struct Teams {
    /// Threads of a team.
    lanes: u32,
    subgroups: bool,
}

impl Teams {
    /// By the length of rows alone, so that the number of columns never changes a result.
    pub(super) fn new(build: &Build<'_>, weight: &Layout) -> Result<Self, String> {
        let width = u32::try_from(weight.shape[0]).map_err(|_| "rows are too long".to_owned())?;
        let lanes = (width / unit(weight.dtype)).next_power_of_two().clamp(32, THREADS);
        Ok(match build.caps.subgroups {
            // A subgroup lies in one team.
            Some((least, most)) if least >= 4 && most <= THREADS => Teams { lanes: lanes.max(most), subgroups: true },
            _ => Teams { lanes, subgroups: false },
        })
    }

    /// Rows of a workgroup.
    pub(super) fn rows(&self) -> u32 {
        THREADS / self.lanes * TEAM_ROWS
    }

    /// The definitions of a launch for this many columns.
    pub(super) fn define(&self, launch: Launch, columns: u32) -> Launch {
        launch
            .define("lanes", format!("{}u", self.lanes))
            .define("columns", format!("{columns}u"))
            .flag("subgroups", self.subgroups)
    }
}

/// Rows and columns of a tile.
pub(super) const TILE: u64 = 64;

/// A number of workgroups in one dimension.
///
/// # Errors
/// More than one dimension takes.
pub(super) fn limited(groups: u64) -> Result<u32, String> {
    u32::try_from(groups).ok().filter(|n| *n <= MOST_GROUPS).ok_or_else(|| format!("{groups} workgroups in one dimension"))
}
