//! Attention of many tokens: tiles of tokens and heads, and chunks of cells where there are few tiles.

use super::super::{Build, Launch};
use super::{cache, split};

/// Rows of a tile: tokens times the query heads that share a key/value head.
const ROWS: u32 = 64;
/// Blocks that fill a large GPU.
const GROUPS: u32 = 256;
/// Least cells of a chunk.
const LEAST: u32 = 128;

/// Tiles, and the merge of their chunks.
pub(super) fn launches(
    build: &mut Build<'_>,
    stem: &'static str,
    matrices: bool,
) -> Result<Vec<Launch>, String> {
    let [width, tokens, heads, _] = build.shape("q")?;
    let [_, cells, groups, _] = build.shape("k")?;
    let sharing = heads / groups.max(1);
    let batches = sharing.div_ceil(ROWS).max(1);
    let tile_heads = sharing.div_ceil(batches).max(1);
    let tile_tokens = ROWS / tile_heads;
    let tiles = [tokens.div_ceil(tile_tokens), groups * batches];
    let wanted = GROUPS / (tiles[0] * tiles[1]).max(1);
    let chunks = cells.div_ceil(LEAST).min(wanted).max(1);
    let form = if matrices { "matrix" } else { "tile" };
    let tile =
        Launch::grid(format!("{stem}_{form}_{}_{width}", cache(build)?), [tiles[0], tiles[1], chunks], 256)
            .integer("chunks", chunks)
            .integer("batches", batches)
            .integer("tile_heads", tile_heads)
            .integer("tile_tokens", tile_tokens);
    if chunks == 1 {
        return Ok(vec![tile]);
    }
    build.scratch = split::sums(build, chunks)?;
    Ok(vec![tile, split::merge(build, stem, chunks)?.integer("tiled", 1)])
}
