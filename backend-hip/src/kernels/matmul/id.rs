//! `mul_mat_id`.

use super::any;
use super::ports::{Form, THREADS, Teams, is_wide, narrow, suffix};
use super::product::Square;
use crate::kernels::{Build, Launch};

/// A team of waves some rows of the matrix chosen for one column.
pub(super) fn few_columns(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    few(build, Form::Exact)
}

/// The same, every 32 values of the column rounded to eight bits.
pub(super) fn rounded_columns(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    few(build, Form::Rounded)
}

fn few(build: &Build<'_>, form: Form) -> Result<Vec<Launch>, String> {
    let (weight, [rows, chosen, tokens, _]) = (build.layout("weight")?, build.layout("out")?.shape);
    if !is_wide(build, "weight", &weight) {
        return any(build, "mul_mat_id_any");
    }
    let teams = Teams::new(&weight, rows * chosen, form);
    let grid = [teams.blocks(rows)?, narrow(chosen * tokens)?, 1];
    let function = format!("mul_mat_id_{}_{}", form.name(), suffix(weight.dtype));
    Ok(vec![Launch::grid(function, grid, THREADS).integer("split", teams.split)])
}

/// Columns sorted by expert, then a block a tile, in f32.
pub(super) fn tiles(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let weight = build.layout("weight")?;
    if !is_wide(build, "weight", &weight) {
        return any(build, "mul_mat_id_any");
    }
    let list = List::of(build, 64)?;
    build.scratch = list.bytes;
    let function = format!("mul_mat_id_tile_{}", suffix(weight.dtype));
    let product = Launch::grid(function, list.grid(build, 64)?, 128).integer("list", list.at);
    Ok(vec![list.sort(), product])
}

/// Columns to halves and sorted by expert, then a block a tile on matrix units.
pub(super) fn matrices(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (weight, x, out) = (build.layout("weight")?, build.layout("x")?, build.layout("out")?);
    if !is_wide(build, "weight", &weight) {
        return any(build, "mul_mat_id_any");
    }
    let [rows, chosen, tokens, _] = out.shape;
    // Columns of an expert if all were chosen alike.
    let columns = chosen * tokens / weight.shape[2].max(1);
    let large = (columns.div_ceil(128) * weight.shape[2]).min(chosen * tokens) * rows.div_ceil(128);
    let square = Square::of(columns, large);
    let list = List::of(build, square.columns)?;
    let halves = list.bytes.next_multiple_of(16);
    build.scratch = halves + x.elements() * 2;
    let halves = narrow(halves)?;
    let function = format!("mul_mat_id_wmma_{}_{}", suffix(weight.dtype), square.columns);
    let product = Launch::grid(function, list.grid(build, square.rows)?, square.threads());
    Ok(vec![
        list.sort(),
        Launch::threads("mul_mat_id_halves", x.elements() / 8)?.integer("halves", halves),
        product.integer("list", list.at).integer("halves", halves),
    ])
}

/// Columns sorted by expert, in tiles: see `include/chosen_columns.h`.
struct List {
    tile: u32,
    /// Tiles at most.
    most: u32,
    /// The word at which columns begin.
    at: u32,
    bytes: u64,
}

impl List {
    fn of(build: &Build<'_>, tile: u64) -> Result<Self, String> {
        let [_, chosen, tokens, _] = build.layout("out")?.shape;
        let columns = chosen * tokens;
        // Each expert that is chosen at all may leave one tile of its columns unfilled.
        let most = columns / tile + columns.min(build.layout("weight")?.shape[2]);
        let at = most * 4 + 4;
        Ok(List { tile: narrow(tile)?, most: narrow(most)?, at: narrow(at)?, bytes: (at + columns) * 4 })
    }

    fn sort(&self) -> Launch {
        let launch = Launch::grid("mul_mat_id_sort", [1, 1, 1], 256);
        launch.integer("tile", self.tile).integer("list", self.at)
    }

    fn grid(&self, build: &Build<'_>, rows: u64) -> Result<[u32; 3], String> {
        Ok([self.most, narrow(build.layout("out")?.shape[0].div_ceil(rows))?, 1])
    }
}
