//! Tokens from logits.

use super::{Build, Launch, Variant};

/// Variants of these kernels.
pub(super) const VARIANTS: &[Variant] = &[Variant::any("sample", sample)];

/// Logits that one workgroup looks at.
const PIECE: u32 = 1024;
/// Scratch words of a row, and of each of its pieces.
const ROW_WORDS: u64 = 4;
const PIECE_WORDS: u64 = 5;

fn sample(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [width, rows, ..] = build.shape("logits")?;
    let pieces = width.div_ceil(PIECE);
    build.scratch = u64::from(rows) * (ROW_WORDS + PIECE_WORDS * u64::from(pieces)) * 4;
    let part = |name: &str, groups: [u32; 3]| Launch::grid(groups).define("part", name);
    Ok(vec![
        part("largest", [pieces, rows, 1]),
        part("select", [rows, 1, 1]),
        part("score", [pieces, rows, 1]),
        part("choose", [rows, 1, 1]),
    ])
}
