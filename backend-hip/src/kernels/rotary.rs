//! Rotary embeddings.

use super::elementwise::FOLDED;
use super::rows::quads;
use super::{Build, Launch, Scalars, Variant};
use weft_core::contract::{Allowed, Port, Symbol};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[
    Variant::any("rope", rope),
    Variant {
        name: "rows",
        port: heads_port,
        symbols: &[Symbol { name: "D", allowed: Allowed::MultipleOf(4, MOST_HEAD) }],
        ..Variant::any("norm_rope", |build| block_a_head(build, "norm_rope_rows"))
    },
    Variant::any("norm_rope", |build| block_a_head(build, "norm_rope_any")),
    Variant {
        name: "rows",
        port: heads_port,
        symbols: &[Symbol { name: "D", allowed: Allowed::MultipleOf(32, MOST_HEAD) }],
        ..Variant::any("norm_rope_rows", |build| block_a_head(build, "norm_rope_rows_heads"))
    },
    Variant::any("norm_rope_rows", block_a_token),
    Variant {
        name: "heads",
        symbols: &[Symbol { name: "D", allowed: Allowed::MultipleOf(32, MOST_HEAD) }],
        ..Variant::any("pool_rows", block_a_mean)
    },
];

pub(super) const SCALARS: Scalars = &[
    ("rope", &["pitch_low", "pitch_high", "ramp_first", "ramp_span", FOLDED[0]]),
    ("norm_rope", ANGLES),
    ("norm_rope_rows", ANGLES),
    ("pool_rows", ANGLES),
];

/// What the kernels need to know of the angles besides the attributes, see [`angles`].
const ANGLES: &[&str] = &["pitch_low", "pitch_high", "ramp_first", "ramp_span"];
/// Values of a head that the fast forms keep in workgroup memory.
const MOST_HEAD: u64 = 1024;
/// Threads of a head.
const HEAD_THREADS: u32 = 128;

/// Heads in packed rows of groups of four floats; what is written to a cache may be of any type.
fn heads_port(port: Port) -> Port {
    match (port.name, port.access.reads()) {
        ("x" | "weight", _) | ("out", false) => quads(port),
        _ => port,
    }
}

/// One thread a pair, or a dimension that passes through.
fn rope(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let x = build.layout("x")?;
    let pairs = u64::from(build.integer("dims")?).min(x.shape[0]) / 2;
    let launch = Launch::threads("rope_any", (x.shape[0] - pairs) * x.rows())?;
    Ok(vec![angles(build, launch)?])
}

/// One block a head.
fn block_a_head(build: &mut Build<'_>, function: &str) -> Result<Vec<Launch>, String> {
    let launch = Launch::grid(function, [build.rows("x")?, 1, 1], HEAD_THREADS);
    Ok(vec![angles(build, launch)?])
}

/// One block a token. Scratch memory holds its row before it is encoded.
fn block_a_token(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    build.scratch = 4 * build.elements("x")?;
    let launch = Launch::grid("norm_rope_rows_any", [build.shape("x")?[2], 1, 1], HEAD_THREADS);
    Ok(vec![angles(build, launch)?])
}

/// One block a mean.
fn block_a_mean(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let launch = Launch::grid("pool_rows_heads", [build.shape("cells")?[1], 1, 1], HEAD_THREADS);
    Ok(vec![angles(build, launch)?])
}

/// A launch with what a device would compute less exactly: the bits of `log2(base)·2/dims` as f64, and, as f32, the first
/// pair of the YaRN ramp and the ramp's length.
fn angles(build: &Build<'_>, launch: Launch) -> Result<Launch, String> {
    let float = |name| build.dispatch.constants.f32(name).map(f64::from).map_err(|e| e.to_string());
    let (base, dims) = (float("base")?, f64::from(build.integer("dims")?));
    let pitch = (base.log2() * 2.0 / dims).to_bits();
    let context = f64::from(build.integer("yarn_context")?);
    let edge = |turns: f64| dims * (context / (turns * std::f64::consts::TAU)).ln() / (2.0 * base.ln());
    let low = edge(32.0).floor().max(0.0);
    let high = edge(1.0).ceil().min(dims - 1.0);
    // No pair lies beyond: infinities would make NaN of the ramp.
    let bounded = |pairs: f64| (pairs.min(FAR) as f32).to_bits();
    Ok(launch
        .integer("pitch_low", pitch as u32)
        .integer("pitch_high", (pitch >> 32) as u32)
        .integer("ramp_first", bounded(low))
        .integer("ramp_span", bounded((high - low).max(0.001))))
}

/// More pairs than a head has.
const FAR: f64 = 1e9;
