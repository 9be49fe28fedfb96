//! Attention of few tokens: cells are cut into chunks whose sums a second launch merges.

use super::super::{Build, Launch};
use super::number;

/// Chunks of all key/value heads together that a long cache is cut into: enough to fill a large GPU. The merge takes no more.
const GROUPS: u32 = 512;
/// Least cells of a chunk.
const LEAST: u32 = 64;
/// Tokens up to which the chunks do not depend on their number: what a token gets does not, either.
const ALIKE: u32 = 8;
/// Query heads that a workgroup handles at once: their number, and the pitch of their weights.
const HEADS: [(u32, u32); 4] = [(2, 2), (4, 4), (6, 8), (8, 8)];
/// Lanes that share a key, where there are subgroups to add their sums.
const SHARE: u32 = 4;
/// Keys of such lanes.
const KEYS: u32 = 2;
/// Pieces of keys, and of values, that a lane has on their way.
const AHEAD: u32 = 4;
const FLIGHT: u32 = 8;
/// Columns that a workgroup of the merge computes, in fours.
const COLUMNS: u32 = 16;
/// Lanes of a workgroup.
const LANES: u32 = 128;

/// The split and the merge.
pub(super) fn launches(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [width, tokens, heads, _] = build.shape("q")?;
    let [_, cells, groups, _] = build.shape("k")?;
    let sharing = heads / groups.max(1);
    let (most, _) = HEADS[HEADS.len() - 1];
    let batches = sharing.div_ceil(most).max(1);
    let (at_once, pitch) =
        HEADS.into_iter().find(|(n, _)| *n * batches >= sharing).unwrap_or(HEADS[HEADS.len() - 1]);
    let wanted = GROUPS / (groups * batches).max(1) / tokens.div_ceil(ALIKE).max(1);
    let chunks = cells.div_ceil(LEAST).min(wanted).max(1);
    build.scratch = sums(build, chunks)?;
    let subgroups = build.caps.subgroups.is_some_and(|(least, _)| least >= SHARE);
    let (share, keys) = if subgroups { (SHARE, KEYS) } else { (1, 1) };
    // Pieces of eight values of a row; loads of a lane that are on their way together.
    let pieces = width / 8;
    let ahead = (pieces / share).min(AHEAD);
    let flight = (LANES / share * keys / (LANES / pieces)).min(FLIGHT);
    let split = Launch::grid([chunks, groups * batches, tokens])
        .define("width", number(width))
        .integer("chunks", chunks)
        .flag("split", true)
        .flag("subgroups", subgroups)
        .define("heads", number(at_once))
        .define("pitch", number(pitch))
        .define("share", number(share))
        .define("keys", number(keys))
        .define("ahead", number(ahead))
        .define("flight", number(flight))
        .define("room", number((at_once * width / 4).max(4 * LANES)))
        .integer("batches", batches);
    Ok(vec![split, merge(build, chunks)?])
}

/// Merges the chunks of each head and token.
pub(super) fn merge(build: &Build<'_>, chunks: u32) -> Result<Launch, String> {
    let [width, tokens, heads, _] = build.shape("q")?;
    let launch = Launch::grid([heads, tokens, width / 4 / COLUMNS])
        .define("width", number(width))
        .define("columns", number(COLUMNS))
        .integer("chunks", chunks);
    Ok(launch.flag("merge", true))
}

/// Bytes that hold the sums of so many chunks.
pub(super) fn sums(build: &Build<'_>, chunks: u32) -> Result<u64, String> {
    let [width, tokens, heads, _] = build.shape("q")?;
    Ok(u64::from(tokens) * u64::from(heads) * u64::from(chunks) * u64::from(width + 4) * 4)
}
