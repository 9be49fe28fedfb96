//! Tables larger than a binding: a launch for each part that one can hold.

use super::{Build, Launch};
use weft_core::graph::Layout;

/// A port that is cut along with the planes of a table.
pub(super) struct Follower {
    pub port: &'static str,
    /// Its dimension that counts what the table's third dimension counts; the next one counts what the fourth does.
    pub dim: usize,
}

/// Room for what is bound besides a part: its start and end are rounded to 256 bytes.
const SLACK: u64 = 512;

/// Launches over all rows of a table. Each sees the rows from `first` on that its binding holds, of `extent` in all;
/// `groups` counts its workgroups from the extents of the port `counted`.
pub(super) fn windows(
    build: &Build<'_>,
    table: &'static str,
    followers: &[Follower],
    counted: &'static str,
    groups: impl Fn(&[u64; 4]) -> u64,
) -> Result<Vec<Launch>, String> {
    let whole = build.layout(table)?;
    let extent = build.shape(table)?[1];
    let launch = |shape: &[u64; 4], first: u64| -> Result<Launch, String> {
        let groups = u32::try_from(groups(shape)).map_err(|_| "more than 2^32 workgroups".to_owned())?;
        Ok(Launch::flat(groups).integer("first", first as u32).integer("extent", extent))
    };
    let bytes = |part: &Layout| part.range().map_or(u64::MAX, |range| range.end - range.start + SLACK);
    let limit = build.caps.binding;
    // Repacked rows end at multiples of 16 bytes and are bound whole.
    let pitch = build.packing(table).map(|rows| rows.pitch());
    let all = pitch.map_or(bytes(&whole), |pitch| pitch * whole.rows() + SLACK);
    if all <= limit {
        return Ok(vec![launch(&build.layout(counted)?.shape, 0)?]);
    }
    let row = pitch.unwrap_or_else(|| bytes(&Layout { shape: [whole.shape[0], 1, 1, 1], ..whole }) - SLACK);
    let step = pitch.unwrap_or(whole.strides[1]).max(1);
    let room =
        limit.checked_sub(row + SLACK).ok_or_else(|| format!("one row of `{table}` fills a binding"))?;
    let rows = room / step + 1;
    let mut launches = Vec::new();
    for plane in 0..whole.shape[2] * whole.shape[3] {
        let at = [plane % whole.shape[2], plane / whole.shape[2]];
        let cut = cut(whole, 2, at);
        for first in (0..whole.shape[1]).step_by(rows as usize) {
            let mut part = cut;
            part.offset += first * part.strides[1];
            part.shape[1] = rows.min(whole.shape[1] - first);
            let mut one = None;
            let mut layouts = vec![(table, part)];
            for follower in followers {
                let layout = self::cut(build.layout(follower.port)?, follower.dim, at);
                if follower.port == counted {
                    one = Some(launch(&layout.shape, first)?);
                }
                layouts.push((follower.port, layout));
            }
            let one = one.ok_or_else(|| format!("`{counted}` does not follow `{table}`"))?;
            launches.push(layouts.into_iter().fold(one, |one, (port, layout)| one.layout(port, layout)));
        }
    }
    Ok(launches)
}

/// One plane of a tensor: a single index in each of two dimensions, repeated where the tensor has fewer.
fn cut(mut layout: Layout, dim: usize, at: [u64; 2]) -> Layout {
    for (dim, index) in [(dim, at[0]), (dim + 1, at[1])] {
        layout.offset += index % layout.shape[dim].max(1) * layout.strides[dim];
        layout.shape[dim] = 1;
    }
    layout
}
