//! Tokens from logits.

use super::{Build, Launch, Scalars, Variant};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[Variant::any("sample", sample)];

pub(super) const SCALARS: Scalars = &[];

/// Logits that one wave looks at, and the bytes of scratch memory for what it finds.
const PIECE: u32 = 256;
const PIECE_BYTES: u64 = 24;
/// Pieces of a block.
const PIECES: u32 = 8;

/// One wave a piece, then one block a row. Scratch memory also lists candidates, each in eight bytes.
fn sample(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [width, rows, ..] = build.shape("logits")?;
    let pieces = width.div_ceil(PIECE);
    build.scratch = u64::from(rows) * (PIECE_BYTES * u64::from(pieces) + 8 * u64::from(width));
    Ok(vec![
        Launch::grid("sample_pieces", [pieces.div_ceil(PIECES), rows, 1], 256),
        Launch::grid("sample_choose", [rows, 1, 1], 1024),
    ])
}
