//! A whole gated delta net: the general form, and one for heads of whole lanes.

use super::super::{Build, Launch, Variant};
use super::heads::{SYMBOLS, step};
use super::{GROUP, TEAM, invocations};
use weft_core::contract::{Port, Stride};

/// Heads of 32 to 256 values in aligned rows.
///
/// A few tokens take two launches: the recurrence of some value channels a workgroup, which convolves for itself, and the
/// gated norm with the history's tail. Many tokens are convolved in a launch of their own; what a chunk's triangular part
/// makes of them is prepared for all chunks at once, then one workgroup passes over the chunks of a segment with a piece
/// of the state. Short segments, and the last tokens of those that leave snapshots, go token by token.
pub(super) const HEADS: Variant = Variant {
    stem: "gdn_layer",
    name: "heads",
    exact: true,
    port,
    symbols: SYMBOLS,
    tolerance: None,
    runs_on: |_| true,
    build: heads,
};

fn port(port: Port) -> Port {
    match port.name {
        "segments" => port,
        "alpha" | "beta" | "dt" | "a" => port.aligned(4),
        "conv" => port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]).aligned(4),
        "history" => port.packed_rows().aligned(4),
        "weight" => port.packed().aligned(4),
        "state" => port.packed_rows().aligned(16),
        "x" => port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]).aligned(16),
        "z" => port.strides([Stride::Packed, Stride::Any, Stride::Any, Stride::Any]).aligned(4),
        _ => port.packed_rows().aligned(4),
    }
}

/// Most tokens that are worth no chunks.
const FEW: u32 = 16;
/// Tokens of a chunk, as the shader has it.
const CHUNK: u32 = 32;
/// Tokens of a segment that passes in chunks, at least.
const LONG: u32 = 9;
/// Vectors of 16 bytes of a chunk's matrices, as the shader has it.
const MATRICES: u32 = 520;

fn heads(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let ([channels, tokens, ..], [dim, heads, ..]) = (build.shape("x")?, build.shape("out")?);
    let segments = build.shape("segments")?[1];
    let key_heads = build.integer("key_heads")?;
    let taps = has_four_taps(build)?;
    let staged = |launch: Launch, stage: &str| {
        let launch = launch.define("stage", stage).define("dim", format!("{dim}u"));
        let launch = if taps { launch.define("taps", 4) } else { launch };
        // One launch reports a wrong table: bindings are few.
        launch.flag("silent", stage != "finish")
    };
    let launch =
        |stage: &str, groups: &[u32]| Ok::<_, String>(staged(Launch::flat(invocations(groups)?), stage));
    // Outputs lie in scratch memory head by head, behind the blocks of this many heads.
    let steps = |block: u32| {
        let step = staged(step(build, dim, heads, segments)?, "step").integer("o_block", block);
        let tails = invocations(&[channels.div_ceil(TEAM), segments])?;
        let norms = invocations(&[heads, tokens])?.div_ceil(4);
        let groups = norms.checked_add(tails).ok_or("more than 2^32 workgroups")?;
        let finish = launch("finish", &[groups])?.integer("o_block", block);
        Ok::<_, String>((step, finish))
    };
    // With a segment a token, as when many sequences go on together, no segment is long.
    if tokens <= FEW.max(segments) {
        let outputs = invocations(&[dim, heads, tokens])?;
        let (step, finish) = steps(0)?;
        build.scratch = u64::from(outputs) * 4;
        return Ok(vec![step, finish]);
    }
    let mixed = invocations(&[channels, tokens])?.div_ceil(4);
    // Each segment adds at most one chunk that is not full, and only long ones have any.
    let chunks = (tokens + (CHUNK - 1) * segments.min(tokens / LONG)) / CHUNK;
    let matrices = invocations(&[chunks, heads, MATRICES])?;
    let width = width(dim, build.caps.workgroup_bytes);
    let (step, finish) = steps(2 * key_heads)?;
    let launches = vec![
        launch("convolve", &[channels / dim, tokens.div_ceil(8)])?,
        launch("prepare", &[chunks, heads])?.flag("chunks", true).integer("matrices", mixed),
        launch("scan", &[dim / width, heads, segments])?
            .flag("chunks", true)
            .define("width", format!("{width}u"))
            .integer("matrices", mixed),
        step.flag("chunks", true).flag("mixed", true),
        finish,
    ];
    build.scratch = (u64::from(mixed) + u64::from(matrices)) * 16;
    Ok(launches)
}

/// Value channels that a workgroup of the scan holds the state of.
fn width(dim: u32, bytes: u32) -> u32 {
    // States of the channels, two intermediate products of a chunk, two matrices, and what the segment's table needs.
    let fits = |width: &u32| {
        width * (dim / 4 + 1 + CHUNK / 2) * 16 + 2 * CHUNK * (CHUNK / 4 + 1) * 16 + 512 <= bytes
    };
    [16, 8].into_iter().find(fits).unwrap_or(4)
}

/// Whether the convolution has the four taps that models have, and all of it can be loaded by four values.
fn has_four_taps(build: &Build<'_>) -> Result<bool, String> {
    let (conv, history) = (build.layout("conv")?, build.layout("history")?);
    let whole = |bytes: u64| bytes.is_multiple_of(16);
    Ok(conv.shape[0] == 4
        && history.shape[0] == 3
        && conv.strides[1] == 16
        && history.strides[1] == 12
        && [conv.offset, history.offset].into_iter().all(whole)
        && (history.shape[2] <= 1 || whole(history.strides[2])))
}

/// Convolution, history, recurrence, norm.
pub(super) fn any(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let ([channels, tokens, ..], [dim, heads, ..]) = (build.shape("x")?, build.shape("out")?);
    let segments = build.shape("segments")?[1];
    let mixed = invocations(&[channels, tokens])?;
    build.scratch = u64::from(mixed) * 4;
    Ok(vec![
        Launch::flat(mixed.div_ceil(GROUP)).define("stage", "mix"),
        Launch::flat(invocations(&[channels, segments])?.div_ceil(GROUP)).define("stage", "tail"),
        Launch::flat(invocations(&[dim, heads, segments])?.div_ceil(GROUP)).flag("recur", true),
        Launch::flat(invocations(&[heads, tokens])?).define("stage", "norm"),
    ])
}
