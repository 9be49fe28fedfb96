//! `mul_mat_id`.

use super::joined::whole;
use super::ports::{MATRIX_TILE, TILE, Teams, is_wide, limited, weight};
use super::windows::{fits, slice, windows};
use crate::kernels::{Build, Launch};
use std::ops::Range;
use weft_core::graph::Layout;

/// The operands of a launch: some experts, and some of their rows.
struct Part {
    weight: Layout,
    out: Layout,
    experts: Range<u64>,
}

/// The dispatch in parts whose weights one binding holds. Parts begin at multiples of `block` rows.
fn parts(build: &Build<'_>, block: u64) -> Result<Vec<Part>, String> {
    let (weight, out) = (build.layout("weight")?, build.layout("out")?);
    let all = 0..weight.shape[2];
    if fits(build, "weight", &weight) || weight.is_empty() || out.is_empty() {
        return Ok(vec![Part { weight, out, experts: all }]);
    }
    if fits(build, "weight", &slice(&weight, 2, &(0..1))) {
        let part = |experts: Range<u64>| Part { weight: slice(&weight, 2, &experts), out, experts };
        return Ok(windows(build, &weight, 2, 1)?.into_iter().map(part).collect());
    }
    let mut parts = Vec::new();
    for expert in all {
        let experts = expert..expert + 1;
        let one = slice(&weight, 2, &experts);
        for rows in windows(build, &one, 1, block)? {
            let (weight, out) = (slice(&one, 1, &rows), slice(&out, 0, &rows));
            parts.push(Part { weight, out, experts: experts.clone() });
        }
    }
    Ok(parts)
}

/// A launch on these operands. It skips experts outside the part.
fn on(part: &Part, launch: Launch, experts: u32) -> Result<Launch, String> {
    let first = u32::try_from(part.experts.start).map_err(|e| e.to_string())?;
    Ok(launch
        .layout("weight", part.weight)
        .layout("out", part.out)
        .integer("first", first)
        .integer("experts", experts))
}

/// One invocation an element.
pub(super) fn any(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let experts = build.shape("weight")?[2];
    let launch = |part: &Part| {
        let all =
            u32::try_from(part.out.elements()).map_err(|_| "`out` has more than 2^32 elements".to_owned())?;
        on(part, Launch::flat(all.div_ceil(256)).define("form", "any"), experts)
    };
    parts(build, 1)?.iter().map(launch).collect()
}

/// Few columns: a team of threads some rows of the matrix chosen for one column.
pub(super) fn few_columns(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (layout, [rows, chosen, tokens, _]) = (build.layout("weight")?, build.layout("out")?.shape);
    let teams =
        Teams::new(build, &layout, rows * chosen * tokens, 1).if_wide(is_wide(build, "weight", &layout));
    let experts = build.shape("weight")?[2];
    let launch = |part: &Part| {
        let groups = [limited(part.out.shape[0].div_ceil(teams.rows()))?, limited(chosen * tokens)?, 1];
        let launch = teams.define(on(part, Launch::grid(groups).define("form", "vec"), experts)?, 1);
        Ok(weight(launch, build, "weight", "weight", &part.weight))
    };
    parts(build, teams.rows())?.iter().map(launch).collect()
}

/// Few columns: a team of threads some rows of the pair of matrices chosen for one column.
pub(super) fn gated(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (gate, up) = (build.layout("gate")?, build.layout("up")?);
    let (gate, up) = (whole(build, "gate", gate)?, whole(build, "up", up)?);
    let [rows, chosen, tokens, _] = build.layout("out")?.shape;
    let wide = is_wide(build, "gate", &gate) && is_wide(build, "up", &up);
    let teams = Teams::new(build, &gate, rows * chosen * tokens, 1).if_wide(wide);
    let groups = [limited(rows.div_ceil(teams.rows()))?, limited(chosen * tokens)?, 1];
    let launch = teams.define(Launch::grid(groups), 1);
    Ok(vec![weight(weight(launch, build, "gate", "gate", &gate), build, "up", "up", &up)])
}

/// Columns sorted by expert, then a workgroup a tile.
pub(super) fn tiles(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    in_tiles(build, "tile", TILE)
}

/// Columns sorted by expert, then a workgroup a tile, on matrix units.
pub(super) fn matrices(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    in_tiles(build, "coop", MATRIX_TILE)
}

fn in_tiles(build: &mut Build<'_>, form: &str, tile: u64) -> Result<Vec<Launch>, String> {
    let [_, chosen, tokens, _] = build.layout("out")?.shape;
    let experts = build.shape("weight")?[2];
    // Each expert that is chosen at all may leave one tile of its columns unfilled.
    let columns = chosen * tokens;
    let most = columns / tile + columns.min(u64::from(experts));
    let list = limited(most)? * 4 + 4;
    build.scratch = (u64::from(list) + columns) * 4;
    let narrow = u32::try_from(tile).map_err(|e| e.to_string())?;
    let parts = parts(build, tile)?;
    let mut sort = Launch::flat(u32::from(columns > 0))
        .define("form", "sort")
        .integer("experts", experts)
        .integer("tile", narrow)
        .integer("list", list);
    if let Some(part) = parts.first() {
        // It reads no weights, and more than a binding holds could not be described.
        sort = sort.layout("weight", part.weight);
    }
    let launch = |part: &Part| {
        let groups = [limited(most)?, limited(part.out.shape[0].div_ceil(tile))?, 1];
        let launch = on(part, Launch::grid(groups).define("form", form).flag("chosen", true), experts)?;
        Ok(weight(launch.integer("list", list), build, "weight", "weight", &part.weight))
    };
    let products: Vec<Launch> = parts.iter().map(launch).collect::<Result<_, String>>()?;
    Ok(std::iter::once(sort).chain(products).collect())
}
