//! `mul_mat`.

use super::bytes::Waves;
use super::ports::{MATRIX_TILE, TILE, Teams, is_wide, limited, weight};
use super::windows::{fits, slice, windows};
use crate::kernels::{Build, Launch};
use weft_core::graph::Layout;

/// The operands of a launch.
pub(super) struct Part {
    weight: Layout,
    x: Layout,
    out: Layout,
}

impl Part {
    /// A launch on these operands.
    fn launch(&self, launch: Launch) -> Launch {
        launch.layout("weight", self.weight).layout("x", self.x).layout("out", self.out)
    }
}

/// The dispatch in parts whose weights one binding holds. Parts begin at multiples of `block` rows.
fn parts(build: &Build<'_>, block: u64) -> Result<Vec<Part>, String> {
    let whole = Part { weight: build.layout("weight")?, x: build.layout("x")?, out: build.layout("out")? };
    if fits(build, "weight", &whole.weight) || whole.out.is_empty() {
        return Ok(vec![whole]);
    }
    let mut all = Vec::new();
    for c in 0..whole.out.shape[3] {
        for b in 0..whole.out.shape[2] {
            let plane = |layout: &Layout| {
                let (b, c) = (b % layout.shape[2], c % layout.shape[3]);
                slice(&slice(layout, 2, &(b..b + 1)), 3, &(c..c + 1))
            };
            let weight = plane(&whole.weight);
            for rows in windows(build, &weight, 1, block)? {
                all.push(Part {
                    weight: slice(&weight, 1, &rows),
                    x: plane(&whole.x),
                    out: slice(&plane(&whole.out), 0, &rows),
                });
            }
        }
    }
    Ok(all)
}

/// One invocation an element.
pub(super) fn any(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let launch = |part: &Part| {
        let all =
            u32::try_from(part.out.elements()).map_err(|_| "`out` has more than 2^32 elements".to_owned())?;
        Ok(part.launch(Launch::flat(all.div_ceil(256))).define("form", "any"))
    };
    parts(build, 1)?.iter().map(launch).collect()
}

/// A team of threads some rows, for all columns.
pub(super) fn few_columns(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (layout, [rows, columns, ..]) = (build.layout("weight")?, build.shape("out")?);
    let columns = columns.next_power_of_two();
    let teams =
        Teams::new(build, &layout, u64::from(rows), columns).if_wide(is_wide(build, "weight", &layout));
    let launch = |part: &Part| {
        let groups = u32::try_from(part.out.shape[0].div_ceil(teams.rows())).map_err(|e| e.to_string())?;
        let launch = part.launch(Launch::flat(groups)).define("form", "vec");
        Ok(weight(teams.define(launch, columns), build, "weight", "weight", &part.weight))
    };
    parts(build, teams.rows())?.iter().map(launch).collect()
}

/// A subgroup some rows, for all columns, which are rounded to 16 bits.
pub(super) fn in_bytes(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (layout, [rows, columns, ..]) = (build.layout("weight")?, build.shape("out")?);
    let columns = columns.next_power_of_two();
    let waves = Waves::new(build, "weight", &layout, u64::from(rows), columns);
    let launch = |part: &Part| {
        let groups = u32::try_from(part.out.shape[0].div_ceil(waves.rows())).map_err(|e| e.to_string())?;
        let launch = waves.define(part.launch(Launch::flat(groups)), columns);
        Ok(weight(launch, build, "weight", "weight", &part.weight))
    };
    parts(build, waves.rows())?.iter().map(launch).collect()
}

/// A workgroup a tile.
pub(super) fn tiles(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    in_tiles(build, "tile", TILE)
}

/// A workgroup a tile, on matrix units, after a launch that leaves the columns as halves.
pub(super) fn matrices(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let x = build.elements("x")?;
    build.scratch = u64::from(x) * 2;
    let halves =
        Launch::flat(x.div_ceil(4 * 256)).define("form", "halves").shader("mul_mat", vec![("x", "x")]);
    let tiles = in_tiles(build, "coop", MATRIX_TILE)?;
    Ok(std::iter::once(halves).chain(tiles).collect())
}

fn in_tiles(build: &Build<'_>, form: &str, tile: u64) -> Result<Vec<Launch>, String> {
    let launch = |part: &Part| {
        let [rows, columns, b, c] = part.out.shape;
        let groups = [limited(columns.div_ceil(tile))?, limited(rows.div_ceil(tile))?, limited(b * c)?];
        let launch = part.launch(Launch::grid(groups)).define("form", form);
        Ok(weight(launch, build, "weight", "weight", &part.weight))
    };
    parts(build, tile)?.iter().map(launch).collect()
}
