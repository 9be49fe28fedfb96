//! The largest elements of rows.

use super::{Build, Launch};

/// Elements of which one workgroup finds the largest.
const CHUNK: u32 = 4096;

/// Finds the best of each row, in one pass or over chunks, then orders them. Scratch memory holds lists of indices: those
/// of each row first, those of chunks behind them.
pub(super) fn top_k(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (width, rows, k) = (build.shape("x")?[0], build.rows("x")?, build.shape("out")?[0]);
    let count = rows.checked_mul(k).ok_or("more than 2^32 results")?;
    let select = |lists: u32, chunks: u32, chunk: u32, source: u32, result: u32| {
        let launch = Launch::flat(lists).integer("chunks", chunks).integer("chunk", chunk);
        launch.integer("source", source).integer("result", result)
    };
    let chunks = width.div_ceil(CHUNK);
    let listed =
        rows.checked_mul(chunks).and_then(|lists| lists.checked_mul(k)).and_then(|n| n.checked_add(count));
    let mut launches = Vec::new();
    match listed {
        // Only where it leaves much less to look at.
        Some(all) if chunks > 1 && k <= CHUNK / 2 => {
            build.scratch = 4 * u64::from(all);
            launches.push(select(rows * chunks, chunks, CHUNK, 0, count));
            launches.push(select(rows, 1, chunks * k, count, 0).flag("listed", true));
        }
        _ => {
            build.scratch = 4 * u64::from(count);
            launches.push(select(rows, 1, width, 0, 0));
        }
    }
    launches.push(Launch::flat(count.div_ceil(256)).integer("source", 0).flag("order", true));
    Ok(launches)
}
