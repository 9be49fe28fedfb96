//! Attention over chosen blocks.

use super::super::{Build, Launch};
use super::{BLOCKS, COLUMNS, FEW, any};

/// Entries of a chunk of a token's list of cells.
const SPAN: u32 = 64;
/// Blocks of a grid's second dimension.
const LINES: u64 = 65_535;

/// The general form; for few tokens a list is cut into chunks whose sums a second launch merges. Chunks depend on the lists'
/// length alone, so what a token gets does not depend on how many others there are.
pub(super) fn launches(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let ([width, heads, tokens, _], [chosen, ..]) = (build.shape("out")?, build.shape("blocks")?);
    let block = u64::from(build.integer("block")?);
    let chunks = (u64::from(chosen) * block + block - 1).div_ceil(SPAN.into());
    let lines = u64::from(heads) * u64::from(width.div_ceil(COLUMNS));
    if chunks < 2 || tokens == 0 || tokens > FEW || lines == 0 || lines > LINES {
        return any(build, BLOCKS);
    }
    let chunks = u32::try_from(chunks).map_err(|_| "a list of more than 2^32 chunks")?;
    let rows = u64::from(heads) * u64::from(tokens);
    let floats = rows.checked_mul(u64::from(chunks) * (u64::from(width) + 2));
    build.scratch = floats.and_then(|n| n.checked_mul(4)).ok_or("sums beyond 2^64 bytes")?;
    let groups = [chunks, lines as u32, tokens];
    let split = Launch::grid("block_attention_split", groups, COLUMNS).integer("chunks", chunks);
    let merge = Launch::threads("block_attention_merge", build.elements("out")?)?.integer("chunks", chunks);
    Ok(vec![split, merge])
}
