//! `mul_mat`.

use super::any;
use super::ports::{Form, THREADS, Teams, is_wide, narrow, suffix};
use crate::kernels::{Build, Launch};

/// A team of waves some rows, for all columns.
pub(super) fn few_columns(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    few(build, Form::Exact, u32::MAX)
}

/// The same, every 32 values of a column rounded to eight bits. A block rounds columns for itself: no more blocks than run
/// at once, each for rows of several places.
pub(super) fn rounded_columns(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    few(build, Form::Rounded, RESIDENT)
}

/// Blocks of 16 waves that run at once on the largest GPU known, two on each of 132 multiprocessors. A smaller one takes them
/// in turns.
const RESIDENT: u32 = 264;

fn few(build: &Build<'_>, form: Form, most_blocks: u32) -> Result<Vec<Launch>, String> {
    let (weight, [rows, columns, ..]) = (build.layout("weight")?, build.layout("out")?.shape);
    if !is_wide(build, "weight", &weight) {
        return any(build, "mul_mat_any");
    }
    let teams = Teams::new(&weight, rows, form);
    let function =
        format!("mul_mat_{}_{}_{}", form.name(), suffix(weight.dtype), columns.next_power_of_two());
    let blocks = teams.blocks(rows)?.min(most_blocks);
    let launch = Launch::grid(function, [blocks, 1, 1], THREADS);
    Ok(vec![launch.integer("groups_x", blocks).integer("split", teams.split)])
}

/// A block a tile, in f32.
pub(super) fn tiles(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let weight = build.layout("weight")?;
    if !is_wide(build, "weight", &weight) {
        return any(build, "mul_mat_any");
    }
    let function = format!("mul_mat_tile_{}", suffix(weight.dtype));
    Ok(vec![Launch::grid(function, tile_grid(build, 64, 64)?, 128)])
}

/// Columns to halves, then a block a tile on matrix units.
pub(super) fn matrices(build: &mut Build<'_>) -> Result<Vec<Launch>, String> {
    let (weight, x) = (build.layout("weight")?, build.layout("x")?);
    if !is_wide(build, "weight", &weight) {
        return any(build, "mul_mat_any");
    }
    build.scratch = x.elements() * 2;
    let [rows, columns, b, c] = build.layout("out")?.shape;
    let large = columns.div_ceil(128) * rows.div_ceil(128) * b * c;
    let square = Square::of(columns, large);
    let function = format!("mul_mat_wmma_{}_{}", suffix(weight.dtype), square.columns);
    Ok(vec![
        Launch::threads("mul_mat_halves", x.elements() / 8)?,
        Launch::grid(function, tile_grid(build, square.columns, square.rows)?, square.threads()),
    ])
}

/// A tile on matrix units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Square {
    pub rows: u64,
    pub columns: u64,
}

/// Blocks of the largest tiles that give every compute unit two.
const MANY: u64 = 80;

impl Square {
    /// The tile for this many columns of a matrix, where tiles of the largest kind would make so many blocks.
    pub(super) fn of(columns: u64, blocks: u64) -> Self {
        match columns {
            0..=48 => Square { rows: 64, columns: 32 },
            _ if columns > 64 && blocks >= MANY => Square { rows: 128, columns: 128 },
            _ => Square { rows: 64, columns: 64 },
        }
    }

    /// Threads of a block: two decode a row.
    pub(super) fn threads(self) -> u32 {
        2 * self.rows as u32
    }
}

fn tile_grid(build: &Build<'_>, columns: u64, rows: u64) -> Result<[u32; 3], String> {
    let shape = build.layout("out")?.shape;
    Ok([narrow(shape[1].div_ceil(columns))?, narrow(shape[0].div_ceil(rows))?, narrow(shape[2] * shape[3])?])
}
