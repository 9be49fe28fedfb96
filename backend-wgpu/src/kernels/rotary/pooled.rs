//! Means of rows that are normed, turned, and end in rows of another cache.

use super::{Build, Heads, Launch, heads, launches, rows, rows_port};
use weft_core::contract::{Allowed, FLOATS, Port, Symbol};

/// Values of a mean that are kept in workgroup memory.
const MOST: u64 = 1024;
/// Widths of rows.
pub(super) const WIDTHS: &[Symbol] = &[Symbol { name: "D", allowed: Allowed::Between(1, MOST) }];

/// Values are written one by one, not in blocks.
pub(super) fn port(port: Port) -> Port {
    match port.name {
        "out" => Port { dtypes: FLOATS, ..port },
        "weight" => rows_port(port),
        _ => port,
    }
}

/// One workgroup a mean.
pub(super) fn pool_rows(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let [_, tokens, ..] = build.layout("cells")?.shape;
    let means = Heads { width: build.layout("cache")?.shape[0], rows: tokens };
    let all = rows(launches(build, means, heads)?);
    let extent = build.shape("out")?[1];
    let stored = |launch: Launch| {
        let launch = launch.define("most", format!("{MOST}u")).flag("pooled", true);
        launch.integer("first", 0).integer("extent", extent)
    };
    Ok(all.into_iter().map(stored).collect())
}
