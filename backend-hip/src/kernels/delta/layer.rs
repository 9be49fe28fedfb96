//! A whole gated delta net: the general form, and forms for heads in aligned rows.

use super::super::{Build, Launch, Variant};
use super::heads::{THREADS, WIDTH, pieces, states};
use super::{blocks, product};
use weft_core::contract::{Allowed, Port, Stride, Symbol, Tolerance};

/// Heads in aligned rows, up to four taps.
///
/// A few tokens take two launches: the recurrence of some value channels a block, which convolves for itself, and the gated
/// norm with the history's tail. The norm needs all channels of a head, and the history is read by all heads that share its
/// keys: both can only follow when every block has ended. Many short segments keep a GPU busy with larger blocks: all value
/// heads of a key head, so that one launch does everything. Many tokens are convolved by a launch of their own.
pub(super) const HEADS: Variant = variant("heads", |build| launches(build, false));

/// The same, but for many tokens, which pass in chunks on matrix units, rounded to sixteen bits: what a chunk's triangular
/// part makes of them is prepared for all chunks at once, then a block passes over the chunks of a segment with a piece of
/// the state. Short segments, and the last tokens of those that leave snapshots, go token by token.
pub(super) const MATRIX: Variant = Variant {
    exact: false,
    tolerance: Some(Tolerance::EIGHT_BIT),
    ..variant("matrix", |build| launches(build, true))
};

const fn variant(name: &'static str, build: fn(&mut Build<'_>) -> Result<Vec<Launch>, String>) -> Variant {
    let symbols = &[WIDTH, Symbol { name: "taps", allowed: Allowed::Between(1, TAPS as u64) }];
    Variant { name, port, symbols, ..Variant::any("gdn_layer", build) }
}

fn port(port: Port) -> Port {
    let rows = [Stride::Packed, Stride::Any, Stride::Any, Stride::Any];
    match port.name {
        "segments" => port,
        "conv" => port.strides(rows).aligned(4),
        "history" => port.packed_rows().aligned(4),
        "weight" => port.packed().aligned(4),
        "state" => states(port),
        "out" => port.packed_rows().aligned(4),
        "x" => port.strides(rows).aligned(16),
        "z" => port.strides(rows).aligned(4),
        _ => port.aligned(4),
    }
}

/// Most tokens that the recurrence convolves for itself.
const FEW: u32 = 16;
/// Most taps.
const TAPS: u32 = 4;
/// Blocks from which on a block takes all value heads of a key head, and most of those heads.
const GROUPS: u64 = 64;
const GROUP_HEADS: u32 = 8;
/// Tokens of a chunk, and bytes of its matrices, as the kernels have them.
const CHUNK: u32 = 32;
const MATRICES: u64 = 4352;
/// Tokens of a segment that passes in chunks, at least.
const LONG: u32 = 9;
/// Tokens that a wave convolves, and channels of a block.
const RUN: u32 = 16;
const CONVOLVED: u32 = 512;

fn launches(build: &mut Build<'_>, chunks: bool) -> Result<Vec<Launch>, String> {
    let ([channels, tokens, ..], [dim, heads, ..]) = (build.shape("x")?, build.shape("out")?);
    let (segments, key_heads) = (build.shape("segments")?[1], build.integer("key_heads")?);
    let outputs = product(&[dim, heads, tokens, 4])?;
    if takes_groups(build)? {
        let threads = if dim < 64 { 128 } else { 256 };
        return Ok(vec![Launch::grid(format!("gdn_layer_group_{dim}"), [key_heads, segments, 1], threads)]);
    }
    build.scratch = outputs;
    let step = |form: &str| pieces(format!("gdn_layer_{form}_{dim}"), dim, heads, segments);
    // With a segment a token, as when many sequences go on together, no segment is long.
    if tokens <= FEW.max(segments) {
        return Ok(vec![step("step")?, finish(build)?]);
    }
    let runs = [channels.div_ceil(CONVOLVED), tokens.div_ceil(RUN), 1];
    let mixed = offset(outputs)?;
    if !chunks {
        build.scratch += product(&[channels, tokens, 4])?;
        let convolve = Launch::grid(format!("gdn_layer_convolve_{dim}"), runs, THREADS);
        return Ok(vec![
            convolve.integer("mixed", mixed),
            step("rest")?.integer("mixed", mixed),
            finish(build)?,
        ]);
    }
    // Each segment adds at most one chunk that is not full, and only long ones have any.
    let chunks = (tokens + (CHUNK - 1) * segments.min(tokens / LONG)) / CHUNK;
    // Rows behind a chunk's end are read.
    let rows = product(&[channels, tokens, 2])? + product(&[CHUNK, dim, 2])?;
    let matrices = offset(outputs + rows)?;
    let turned = offset(outputs + rows + product(&[chunks, heads])? * MATRICES)?;
    build.scratch = u64::from(turned) * 16 + product(&[chunks, key_heads, dim, CHUNK, 2])?;
    let placed = |launch: Launch| {
        launch.integer("mixed", mixed).integer("matrices", matrices).integer("turned", turned)
    };
    let grid = |form: &str, groups| placed(Launch::grid(format!("gdn_layer_{form}_{dim}"), groups, THREADS));
    Ok(vec![
        grid("convolve_half", runs),
        grid("prepare", [chunks, heads, 1]),
        placed(step("scan")?),
        placed(step("rest_half")?),
        finish(build)?,
    ])
}

/// Whether blocks take all value heads of a key head: there are about as many segments as tokens, and enough to be busy.
fn takes_groups(build: &Build<'_>) -> Result<bool, String> {
    let ([_, tokens, ..], [_, heads, ..]) = (build.shape("x")?, build.shape("out")?);
    let (segments, key_heads) = (build.shape("segments")?[1], build.integer("key_heads")?);
    let fits = heads.is_multiple_of(key_heads) && heads / key_heads <= GROUP_HEADS;
    let reach = build.shape("history")?[0];
    Ok(fits && reach < TAPS && tokens <= segments && product(&[key_heads, segments])? >= GROUPS)
}

/// Where bytes of scratch memory begin, in groups of 16.
fn offset(bytes: u64) -> Result<u32, String> {
    u32::try_from(bytes / 16).map_err(|_| "scratch memory beyond 64 GiB".to_owned())
}

/// Norms, a wave a row, and the history's tails.
fn finish(build: &Build<'_>) -> Result<Launch, String> {
    let ([channels, ..], [dim, heads, tokens, _]) = (build.shape("x")?, build.shape("out")?);
    let segments = build.shape("segments")?[1];
    let norms = blocks(&[heads, tokens])?.div_ceil(THREADS / 32);
    let tails = blocks(&[channels.div_ceil(THREADS), segments])?;
    let groups = norms.checked_add(tails).ok_or("more than 2^32 blocks")?;
    Ok(Launch::grid(format!("gdn_layer_finish_{dim}"), [groups, 1, 1], THREADS))
}

/// Convolution, history, recurrence, norm.
pub(super) fn any(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let ([channels, tokens, ..], [dim, heads, ..]) = (build.shape("x")?, build.shape("out")?);
    let segments = build.shape("segments")?[1];
    let (mixed, states) = (product(&[channels, tokens])?, product(&[dim, heads, segments])?);
    build.scratch = (mixed + states * u64::from(dim)) * 4;
    Ok(vec![
        Launch::threads("gdn_layer_mix", mixed)?,
        Launch::threads("gdn_layer_tail", product(&[channels, segments])?)?,
        Launch::threads("gdn_layer_any", states)?,
        Launch::grid("gdn_layer_norm", [blocks(&[heads, tokens])?, 1, 1], 256),
    ])
}
