//! Attention of few tokens: cells are cut into chunks whose sums a second launch merges.

use super::super::{Build, Launch};
use super::{PLAIN, cache};

/// Chunks of all key/value heads together that a long cache is cut into: enough to fill a large GPU.
const GROUPS: u32 = 512;
/// Least cells of a chunk.
const LEAST: u32 = 64;
/// Tokens up to which the chunks do not depend on their number: what a token gets does not, either.
const ALIKE: u32 = 8;
/// Query heads that a block handles at once.
const HEADS: [u32; 3] = [2, 4, 8];

/// The split, which is the same for both kernels, and the merge.
pub(super) fn launches(build: &mut Build<'_>, stem: &'static str) -> Result<Vec<Launch>, String> {
    let [width, tokens, heads, _] = build.shape("q")?;
    let [_, cells, groups, _] = build.shape("k")?;
    let sharing = heads / groups.max(1);
    let most = HEADS[HEADS.len() - 1];
    let batches = sharing.div_ceil(most).max(1);
    let at_once = HEADS.into_iter().find(|n| *n * batches >= sharing).unwrap_or(most);
    let wanted = GROUPS / (groups * batches).max(1) / tokens.div_ceil(ALIKE).max(1);
    let chunks = cells.div_ceil(LEAST).min(wanted).max(1);
    build.scratch = sums(build, chunks)?;
    let function = format!("{PLAIN}_split_{}_{width}_{at_once}", cache(build)?);
    let mut split = Launch::grid(function, [chunks, groups * batches, tokens], 128)
        .integer("chunks", chunks)
        .integer("batches", batches);
    if stem != PLAIN {
        split = split.of(PLAIN, ["q", "k", "v", "segments"].map(|port| (port, port)).to_vec());
    }
    Ok(vec![split, merge(build, stem, chunks)?])
}

/// Merges the chunks of each head and token.
pub(super) fn merge(build: &Build<'_>, stem: &str, chunks: u32) -> Result<Launch, String> {
    let [width, tokens, heads, _] = build.shape("q")?;
    let launch = Launch::grid(format!("{stem}_merge_{width}"), [heads, tokens, 1], 256);
    Ok(launch.integer("chunks", chunks))
}

/// Bytes that hold the sums of so many chunks.
pub(super) fn sums(build: &Build<'_>, chunks: u32) -> Result<u64, String> {
    let [width, tokens, heads, _] = build.shape("q")?;
    Ok(u64::from(tokens) * u64::from(heads) * u64::from(chunks) * u64::from(width + 4) * 4)
}
