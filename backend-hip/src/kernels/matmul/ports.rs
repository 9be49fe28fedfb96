//! What tuned products narrow, and how they look at weights.

use crate::kernels::Build;
use weft_core::contract::{ANY_WEIGHT, Allowed, BLOCKS, COMMON, Extent, F32, Port, Stride, Symbol};
use weft_core::graph::{DType, Layout};

/// Rows of whole pieces of 32 values.
pub(super) const WHOLE: &[Symbol] = &[Symbol { name: "I", allowed: Allowed::MultipleOf(32, 1 << 30) }];
/// And few tokens.
pub(super) const FEW: &[Symbol] = &[
    Symbol { name: "I", allowed: Allowed::MultipleOf(32, 1 << 30) },
    Symbol { name: "T", allowed: Allowed::Between(1, 8) },
];
/// And fewer still: a product in a loop over streams leaves no registers for eight.
pub(super) const FEWER: &[Symbol] = &[
    Symbol { name: "I", allowed: Allowed::MultipleOf(32, 1 << 30) },
    Symbol { name: "T", allowed: Allowed::Between(1, 4) },
];
/// Rows for matrix units.
pub(super) const WHOLE_TURNS: &[Symbol] = &[Symbol { name: "I", allowed: Allowed::MultipleOf(64, 1 << 30) }];

/// Packed rows at any distance: of weights anywhere (see [`is_wide`]), of activations where four floats can be loaded at once.
pub(super) fn rows_port(port: Port) -> Port {
    if port.dtypes == ANY_WEIGHT {
        port.packed_rows()
    } else if port.name == "x" {
        Port { dtypes: F32, ..port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]) }
            .aligned(16)
    } else if port.access.writes() {
        port.packed_rows().aligned(4)
    } else {
        port
    }
}

/// One matrix of weights, one plane of columns.
pub(super) fn product_port(port: Port) -> Port {
    let mut port = rows_port(port);
    port.shape[2] = Extent::Is(1);
    port.shape[3] = Extent::Is(1);
    port
}

/// Ports of joined products and of those on matrix units. Types of few bits go one by one, many columns in f32.
pub(super) fn joined_port(port: Port) -> Port {
    let narrowed = rows_port(port);
    if port.dtypes == ANY_WEIGHT { Port { dtypes: COMMON, ..narrowed } } else { narrowed }
}

/// The same with streams that are read a float at a time.
pub(super) fn mixed_port(port: Port) -> Port {
    if port.name == "streams" { port.aligned(4) } else { joined_port(port) }
}

/// With weights in blocks.
pub(super) fn quantised(port: Port) -> Port {
    if port.dtypes == ANY_WEIGHT { Port { dtypes: BLOCKS, ..port } } else { port }
}

/// Whether every part of a weight can be loaded 16 bytes at a time. Others are read by the kernels for any layout: no weight
/// of a model is among them.
pub(super) fn is_wide(build: &Build<'_>, port: &str, weight: &Layout) -> bool {
    let whole = weight.dtype.block_bytes().is_multiple_of(16) || !weight.dtype.is_quantised();
    let along = |dim: usize| weight.shape[dim] <= 1 || weight.strides[dim].is_multiple_of(16);
    build.packing(port).is_some() || (whole && weight.offset.is_multiple_of(16) && (1..4).all(along))
}

/// A type in the names of entry points.
pub(super) fn suffix(dtype: DType) -> String {
    dtype.to_string().to_lowercase()
}

/// How products of few columns are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// In f32.
    Exact,
    /// Every 32 values of a column rounded to eight bits.
    Rounded,
}

impl Form {
    /// In the names of entry points.
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::Exact => "vec",
            Form::Rounded => "q8",
        }
    }

    /// Values that a lane takes at once, see `include/weights.h` and `include/wide_units.h`.
    fn unit(self, dtype: DType) -> u64 {
        match (dtype, self) {
            (DType::F32, _) => 4,
            (DType::F16 | DType::BF16, _) => 8,
            (DType::Q8_0, _) => 16,
            (DType::Q4_K, Form::Rounded) => 64,
            _ => 32,
        }
    }
}

/// How the waves of a block share rows, see `include/teams.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Teams {
    /// Waves of a team.
    pub split: u32,
}

/// Threads of a block.
pub(super) const THREADS: u32 = 512;
/// Waves of a block.
const WAVES: u32 = THREADS / 32;
/// Rows of a team.
const ROWS: u32 = 2;
/// Blocks that keep all compute units busy.
const BUSY_BLOCKS: u64 = 160;

impl Teams {
    /// For this many rows of all weights like `weight`. The number of columns must not matter here: it would change results.
    pub(super) fn new(weight: &Layout, rows: u64, form: Form) -> Self {
        let turns = weight.shape[0] / form.unit(weight.dtype) / 32;
        let mut teams = Teams { split: 1 };
        while teams.split < 4 && rows / teams.rows() < BUSY_BLOCKS && u64::from(2 * teams.split) <= turns {
            teams.split *= 2;
        }
        teams
    }

    /// For this many rows of two weights each, computed by the same teams. They suit the weight with the fewer units.
    pub(super) fn of_pair(gate: &Layout, up: &Layout, rows: u64, form: Form) -> Self {
        let (one, other) = (Self::new(gate, 2 * rows, form), Self::new(up, 2 * rows, form));
        if one.split < other.split { one } else { other }
    }

    /// Rows of a block.
    pub(super) fn rows(self) -> u64 {
        u64::from(WAVES / self.split * ROWS)
    }

    /// Blocks for this many rows.
    pub(super) fn blocks(self, rows: u64) -> Result<u32, String> {
        narrow(rows.div_ceil(self.rows()))
    }
}

/// A number of blocks, or of bytes that 32 bits count.
pub(super) fn narrow(n: u64) -> Result<u32, String> {
    u32::try_from(n).map_err(|_| format!("{n} is too much for 32 bits"))
}
