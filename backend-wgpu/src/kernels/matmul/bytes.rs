//! Products of few columns whose weights' levels meet bytes of x: 16 bits of a value, in two planes.
//!
//! In f32 the types with scales of scales, and those whose levels are numbered, keep a large GPU busy with arithmetic; Q8_0 and
//! floats do not.

use super::joined;
use super::ports::{is_wide, product_port};
use crate::adapter::Caps;
use crate::kernels::{Build, Launch};
use weft_core::contract::Port;
use weft_core::graph::{DType, Layout};

/// Types of weights that are multiplied this way.
const TYPES: &[DType] = &[
    DType::Q4_K,
    DType::Q5_K,
    DType::Q6_K,
    DType::Q2_K,
    DType::Q3_K,
    DType::IQ4_NL,
    DType::IQ4_XS,
    DType::MXFP4,
];
/// Those of gated products: two decoders of few bits make a long text.
const GATED: &[DType] = &[DType::Q4_K, DType::Q5_K, DType::Q6_K];

/// Ports of a product with one matrix.
pub(super) fn product(port: Port) -> Port {
    let narrowed = product_port(port);
    if port.name == "weight" { Port { dtypes: TYPES, ..narrowed } } else { narrowed }
}

/// Ports of a gated product.
pub(super) fn gated(port: Port) -> Port {
    let narrowed = joined::port(port);
    if matches!(port.name, "gate" | "up") { Port { dtypes: GATED, ..narrowed } } else { narrowed }
}

/// Whether a device has what the shaders count on: four neighbours of a subgroup share a scale.
pub(super) fn runs_on(caps: &Caps) -> bool {
    caps.subgroups.is_some_and(|(least, most)| least >= 4 && most <= THREADS) && caps.invocations >= THREADS
}

/// Threads of a workgroup.
const THREADS: u32 = 256;
/// Rows of a matrix from which on a subgroup takes four of them, where their decoding leaves registers for that.
const MANY: u64 = 8192;
/// Bytes of workgroup memory for two values of x: two planes, and a sixteenth of scale and sum.
const PAIR_BYTES: u32 = 5;
/// Bytes of workgroup memory for x, at most: several workgroups should fit.
const MOST_BYTES: u32 = 24 << 10;
/// Bytes that a workgroup may need besides.
const OTHER_BYTES: u32 = 1 << 10;

/// How the subgroups of a workgroup share the rows of a weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waves {
    /// Rows of a subgroup.
    rows: u32,
    /// Subgroups of a workgroup, at least: where their width varies, the last may find no rows.
    waves: u32,
    /// Values of x that are prepared at once.
    piece: u32,
}

impl Waves {
    /// For so many rows of the weight at a port, and so many columns.
    pub(super) fn new(build: &Build<'_>, port: &str, weight: &Layout, rows: u64, columns: u32) -> Self {
        // Weights that are loaded byte by byte have long texts, as have types of few bits.
        let short = matches!(weight.dtype, DType::Q4_K | DType::Q5_K) && is_wide(build, port, weight);
        let four = rows >= MANY && short;
        let bytes = build.caps.workgroup_bytes.saturating_sub(OTHER_BYTES).min(MOST_BYTES);
        // Whole blocks of the weights.
        let most = bytes * 2 / PAIR_BYTES / columns.max(1) / 256 * 256;
        let piece = u32::try_from(weight.shape[0]).unwrap_or(u32::MAX).min(most);
        let width = build.caps.subgroups.map_or(1, |(_, most)| most);
        Waves { rows: if four { 4 } else { 2 }, waves: THREADS / width, piece }
    }

    /// For two weights at once.
    pub(super) fn of_two(self) -> Self {
        Waves { rows: 2, ..self }
    }

    /// Rows of a workgroup.
    pub(super) fn rows(&self) -> u64 {
        u64::from(self.waves * self.rows)
    }

    /// The definitions of `dot_bytes.wgsl` for this many columns.
    pub(super) fn define(&self, launch: Launch, columns: u32) -> Launch {
        launch
            .define("form", "bytes")
            .define("threads", format!("{THREADS}u"))
            .define("rows", format!("{}u", self.rows))
            .define("columns", format!("{columns}u"))
            .define("piece", format!("{}u", self.piece))
    }
}
