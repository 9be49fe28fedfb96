//! Attention over chosen blocks.

use super::super::{Build, Launch};
use super::{COLUMNS, FEW, any};

/// Entries of a chunk of a token's list of cells, as in the shader.
const SPAN: u32 = 64;
/// Workgroups of a grid's dimension on any device.
const LINES: u32 = 65_535;

/// The general form; for few tokens a list is cut into chunks whose sums a second launch merges. Chunks depend on the lists'
/// length alone, so what a token gets does not depend on how many others there are.
pub(super) fn launches(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let ([width, _, tokens, _], [chosen, ..]) = (build.shape("out")?, build.shape("blocks")?);
    let block = build.integer("block")?;
    let entries = u64::from(chosen) * u64::from(block) + u64::from(block) - 1;
    let chunks = entries.div_ceil(SPAN.into());
    let rows = build.rows("out")?;
    let groups = rows.checked_mul(width.div_ceil(COLUMNS)).ok_or("too many rows of results")?;
    if chunks < 2 || chunks > LINES.into() || tokens > FEW || groups == 0 || groups > LINES {
        return any(build);
    }
    build.scratch = u64::from(rows) * chunks * (u64::from(width) + 2) * 4;
    let chunks = chunks as u32;
    let chunk =
        Launch::grid([chunks, groups, 1]).flag("any", true).flag("chunked", true).integer("chunks", chunks);
    let merge = Launch::flat(groups).flag("merge", true).integer("chunks", chunks);
    Ok(vec![chunk, merge])
}
